import { createHash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ObservationSchema } from '#contracts';
import { buildItem } from '../shared/item.js';
import type { SourceItem } from '../source.js';
import { ENGINES } from './answer.js';
import type { BrandReading } from './brands.js';
import { ENGINE_APIS } from './engines.js';
import { changed, type History, type Run } from './runs.js';

/** The question of a search. All answers of the search have the same question. */
export interface SearchQuestion {
  prompt: string;
  /** The market as written in the search; null if it has none. */
  market: string | null;
}

/** Event types of answers. */
type AnswerEvent = 'answer.created' | 'answer.changed' | 'term.cited' | 'term.uncited';

/** Returns the items of a first poll. Each answer is the first answer of its watch. */
export function reportOfAll(question: SearchQuestion, runs: readonly Run[]): SourceItem[] {
  return runs.map((run) => itemOf(question, { ...run, previous: null }, 'answer.created'));
}

/** Returns all changes after `since`, newest first. Reads with the same `since` return the same changes again. */
export function reportSince(since: Date, question: SearchQuestion, history: History): SourceItem[] {
  const news = ENGINES.flatMap((engine) => history.engines[engine]?.news ?? [])
    .filter(({ answeredAt }) => Date.parse(answeredAt) > since.getTime())
    // The sort is stable, so answers of the same instant remain in the order of the engines.
    .sort((a, b) => b.answeredAt.localeCompare(a.answeredAt));
  return news.flatMap((run) => newsOf(question, run));
}

/** Returns the raw answers. Earshot stores them, so a user can later look for other brands in them. */
export function observationsOf(
  { prompt, market }: SearchQuestion,
  runs: readonly Run[],
): MessageInitShape<typeof ObservationSchema>[] {
  return runs.map(({ engine, answeredAt, answer: { model, text, citations, queries } }) => ({
    kind: {
      case: 'answer',
      value: { engine, prompt, market: market ?? '', model, answeredAt, text, citations, queries },
    },
  }));
}

/** Returns the changes of one answer, latest first: first its brands, then the answer, because brands follow from it. */
function newsOf(question: SearchQuestion, run: Run): SourceItem[] {
  const { previous, brands } = run;
  if (!previous) return [itemOf(question, run, 'answer.created')];
  const terms = changed(previous.brands, brands, 'cited').map(({ brand, cited }) =>
    itemOf(question, run, cited ? 'term.cited' : 'term.uncited', brand),
  );
  return [...terms.reverse(), itemOf(question, run, 'answer.changed')];
}

function itemOf({ prompt, market }: SearchQuestion, run: Run, type: AnswerEvent, brand?: string): SourceItem {
  const { engine, answeredAt, answer, brands, previous } = run;
  const itemId = itemIdOf(run, type, brand);
  const { model, text, citations, queries, sources, searchEntryPoint } = answer;
  return buildItem('ai_answers', {
    itemId,
    eventType: type,
    kind: 'answer',
    url: citations[0]?.url ?? ENGINE_APIS[engine].site,
    title: prompt,
    text,
    happenedAt: answeredAt,
    body: {
      id: itemId,
      engine,
      model,
      prompt,
      market,
      text,
      citations,
      queries,
      sources,
      searchEntryPoint: searchEntryPoint ?? null,
      brand: brand ?? null,
      brands,
      previous,
      answeredAt,
    },
  });
}

/**
 * The id depends on the change and on the previous run, but not on the run itself. So a read that is repeated after a
 * crash reports the same change with the same id, although it is a new run.
 */
function itemIdOf({ engine, previous, brands }: Run, type: AnswerEvent, brand?: string): string {
  if (!previous) return `${engine}:${type}`;
  const what = brand ?? setsOf(brands);
  return `${engine}:${type}:${previous.answeredAt}:${what}`;
}

function setsOf(brands: readonly BrandReading[]): string {
  const sets = brands.map(({ brand, mentioned, cited }) => [brand, mentioned, cited]);
  return createHash('sha256').update(JSON.stringify(sets)).digest('hex').slice(0, 16);
}
