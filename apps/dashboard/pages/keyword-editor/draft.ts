import { createFormContext } from '@mantine/form';
import type { components } from '../../../../clients/typescript/src/index.js';
import type { Keyword, Source } from '../../api/types.js';
import { fieldsOf, schemaOf, type AnswerField } from '../../parts/answer-schema.js';
import { draftOf as ruleDraftOf, ruleOf, type RuleDraft } from '../../parts/rules/rule-draft.js';

type Schemas = components['schemas'];
/** The body of a keyword, as the API expects it. */
export type KeywordBody = Schemas['KeywordBody'];
/** The criteria of a keyword or of a search. */
export type Criteria = Schemas['Criteria'];
type Entry = KeywordBody['sources'][number];
type Search = NonNullable<Entry['searches']>[number];

/** One search of a source, with its own criteria. */
export interface DraftSearch extends Omit<Search, 'overrides'> {
  overrides: Criteria & { terms: string[] };
  /** The overrides as they are stored; undefined for a new search. */
  storedOverrides?: Criteria;
}

/** A source with its searches. */
export interface DraftSource extends Omit<Entry, 'searches'> {
  searches: DraftSearch[];
}

/** An agent step: an instruction, and the fields of the model's answer. */
export interface DraftAgentStep {
  instruction: string;
  fields: AnswerField[];
}

/**
 * The body of a keyword as the form holds it. No field is missing. Except in `aiStep` and `rules`, each field has the
 * same path as in the API.
 */
export interface Draft {
  name: string;
  refreshIntervalSeconds: number;
  globalCriteria: Criteria & { market: string; query: string; terms: string[] };
  sources: DraftSource[];
  webhookUrl: string;
  webhookMode: 'all' | 'rules';
  webhookEvents: NonNullable<KeywordBody['webhookEvents']>;
  channels: NonNullable<KeywordBody['channels']>;
  spikeAlert: 'low' | 'medium' | 'high' | '';
  subjectRole: 'own' | 'competitor' | 'topic';
  sentimentEnabled: boolean;
  coBrandsEnabled: boolean;
  aiEnabled: boolean;
  aiPreset: string;
  aiPrompt: string;
  aiStep: DraftAgentStep | null;
  muteRules: Schemas['Mute'][];
  vipAuthors: Schemas['Vip'][];
  rules: RuleDraft[];
  minRelevance: number | '';
  languages: string[];
  backfill: boolean;
  schedule: { startsAt: string; endsAt: string; timezone: string } | null;
}

/** The form of a draft, and its context. */
export const [DraftProvider, useDraft, useDraftForm] = createFormContext<Draft>();

/** Returns the draft of a keyword with default values. */
export const emptyDraft = (): Draft => ({
  name: '',
  refreshIntervalSeconds: 600,
  globalCriteria: { market: 'global', query: '', terms: [], match: 'word' },
  sources: [],
  webhookUrl: '',
  webhookMode: 'all',
  webhookEvents: [],
  channels: [],
  spikeAlert: '',
  subjectRole: 'own',
  sentimentEnabled: true,
  coBrandsEnabled: false,
  aiEnabled: false,
  aiPreset: '',
  aiPrompt: '',
  aiStep: null,
  muteRules: [],
  vipAuthors: [],
  rules: [],
  minRelevance: '',
  languages: [],
  backfill: true,
  schedule: null,
});

/** Returns the draft of a stored keyword. */
export function draftOf(keyword: Keyword): Draft {
  const { globalCriteria: criteria, aiStep, schedule } = keyword;
  return {
    ...emptyDraft(),
    name: keyword.name,
    refreshIntervalSeconds: keyword.refreshIntervalSeconds,
    globalCriteria: {
      ...criteria,
      market: criteria.market ?? 'global',
      query: criteria.query ?? '',
      terms: criteria.terms ?? [],
    },
    sources: keyword.sources.map((entry) => ({
      ...entry,
      searches: (entry.searches ?? []).map((search) => ({
        ...search,
        overrides: { ...search.overrides, terms: search.overrides?.terms ?? [] },
        storedOverrides: search.overrides,
      })),
    })),
    webhookUrl: keyword.webhookUrl ?? '',
    webhookMode: keyword.webhookMode,
    webhookEvents: keyword.webhookEvents,
    channels: keyword.channels,
    spikeAlert: keyword.spikeAlert ?? '',
    subjectRole: keyword.subjectRole,
    sentimentEnabled: keyword.sentimentEnabled,
    coBrandsEnabled: keyword.coBrandsEnabled,
    aiEnabled: keyword.aiEnabled,
    aiPreset: keyword.aiPreset ?? '',
    aiPrompt: keyword.aiPrompt ?? '',
    aiStep: aiStep && {
      instruction: aiStep.instruction,
      fields: fieldsOf(aiStep.schema),
    },
    muteRules: keyword.muteRules,
    vipAuthors: keyword.vipAuthors,
    rules: keyword.rules.map(ruleDraftOf),
    minRelevance: keyword.minRelevance ?? '',
    languages: keyword.languages ?? [],
    backfill: keyword.backfill,
    schedule: schedule && {
      startsAt: schedule.startsAt ?? '',
      endsAt: schedule.endsAt ?? '',
      timezone: schedule.timezone,
    },
  };
}

/**
 * Returns the body for the API. Optional texts, numbers, times and languages that are empty become null, which clears
 * them.
 */
export function bodyOf(draft: Draft): KeywordBody {
  const { schedule } = draft;
  const aiStep = draft.aiStep && {
    instruction: draft.aiStep.instruction,
    schema: schemaOf(draft.aiStep.fields),
  };
  return {
    ...draft,
    name: draft.name.trim(),
    globalCriteria: { ...criteriaOf(draft.globalCriteria), market: draft.globalCriteria.market.trim() },
    sources: draft.sources.map((entry) => ({
      ...entry,
      searches: entry.searches.map(({ storedOverrides, ...search }) => ({
        ...search,
        overrides: criteriaOf(search.overrides, storedOverrides),
      })),
    })),
    webhookUrl: draft.webhookUrl.trim() || null,
    spikeAlert: draft.spikeAlert || null,
    aiPreset: (draft.aiPreset || null) as KeywordBody['aiPreset'],
    aiPrompt: draft.aiPrompt.trim() || null,
    aiStep,
    rules: draft.rules.map((rule) => ruleOf(rule, aiStep?.schema)),
    minRelevance: draft.minRelevance === '' ? null : draft.minRelevance,
    languages: draft.languages.length > 0 ? draft.languages : null,
    schedule: schedule && {
      startsAt: schedule.startsAt || null,
      endsAt: schedule.endsAt || null,
      timezone: schedule.timezone,
    },
  };
}

/**
 * Returns the criteria for the API, without values that the member left empty. A single term without a query becomes the
 * query, because `terms` must contain at least two terms.
 */
function criteriaOf(
  { query, terms, ...rest }: Criteria & { terms: string[] },
  stored: Criteria = {},
): Criteria {
  const text = query?.trim() ?? '';
  const isSingle = terms.length === 1 && text === '';
  const words = query === stored.query ? query : text;
  const filled = Object.entries({ ...rest, query: isSingle ? terms[0] : words }).filter(
    ([key, value]) =>
      value !== undefined &&
      value !== null &&
      // A stored empty text stays: with it, a search does not use the text of the keyword.
      (value !== '' || stored[key as keyof Criteria] === ''),
  );
  return { ...Object.fromEntries(filled), ...(terms.length > 0 && !isSingle && { terms }) };
}

/**
 * Returns the faults of criteria with one term and a query. The API cannot require both: it accepts a single term only
 * as the query. `path` is the path in the form.
 */
export function termFaultsOf({ globalCriteria, sources }: Draft): { path: string; message: string }[] {
  const criteria = [
    { path: 'globalCriteria', given: globalCriteria },
    ...sources.flatMap(({ searches }, entry) =>
      searches.map(({ overrides }, search) => ({
        path: `sources.${entry}.searches.${search}.overrides`,
        given: overrides,
      })),
    ),
  ];
  return criteria
    .filter(({ given }) => given.terms.length === 1 && Boolean(given.query?.trim()))
    .map(({ path }) => ({
      path: `${path}.terms`,
      message: 'Enter at least two terms, or leave “And all of this” empty',
    }));
}

/**
 * Returns a new source. Some sources cannot search without special criteria. For these sources, the result has one
 * search with these criteria, so that the member fills them in.
 */
export function newEntry(source: Source): DraftSource {
  const needed: Partial<Record<Source, Criteria>> = {
    rss: { filters: { feed_urls: [] } },
    ai_answers: { filters: { prompt: '' } },
    vinted: { market: 'fr' },
  };
  const own = needed[source];
  return {
    source,
    enabled: true,
    searches: own ? [{ overridesEnabled: true, overrides: { ...own, terms: [] } }] : [],
  };
}
