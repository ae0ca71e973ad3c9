import type { Criteria } from '#contracts';
import { UpstreamError, type FetchContext, type Fetched, type SourceConnector } from '../source.js';
import { ENGINES, tokenSetting, type Answer, type Engine } from './answer.js';
import { ask } from './ask.js';
import { readBrands } from './brands.js';
import { brandDomainsOf, brandsOf, enginesOf, faultsOf, placeOf, promptOf } from './criteria.js';
import type { AiAnswersSettings } from './engines.js';
import { observationsOf, reportOfAll, reportSince, type SearchQuestion } from './report.js';
import { readHistory, runOf, withRuns, writeHistory, type History, type Run } from './runs.js';

// No engine reaches this limit. Each engine has its own quota, so that Earshot can leave out one engine for some time
// without leaving out the others.
const REQUESTS_A_DAY = 100_000;
const DAY_MS = 86_400_000;
// A read also covers this period before the watch's previous read.
const OVERLAP_MS = 5 * 60_000;

/**
 * Answers of AI engines to a prompt, with the brands that the answers mention and cite. A check asks each configured
 * engine that its search names; all configured engines if the search names none.
 */
export function createAiAnswersConnector(settings: AiAnswersSettings): SourceConnector {
  const configured = ENGINES.filter((engine) => settings[engine]);
  const quota = { points: REQUESTS_A_DAY, nextReset: (now: Date) => new Date(now.getTime() + DAY_MS) };
  return {
    id: 'ai_answers',
    requiredSettings: [ENGINES.map(tokenSetting)],
    filterKeys: ['prompt', 'brands', 'brand_domains', 'engines'],
    commonGrid: false,
    hasSearch: true,
    datesByOurClock: true,
    // All items belong to the search, even an item that reports that a brand is no longer in the answer.
    matchesUpstream: true,
    budget: {
      requestsPerMinute: 60,
      concurrency: 4,
      // Each search has its own engines, and engines fail separately. So an outage of one engine must not stop all
      // searches.
      backoff: 'search',
      quotas: Object.fromEntries(ENGINES.map((engine) => [engine, quota])),
    },
    checkCriteria: (criteria) => faultsOf(criteria, configured),
    requestsPerSearch: (criteria) => Math.max(1, configuredEnginesOf(criteria, configured).length),
    unitsPerCheck: (criteria) => configuredEnginesOf(criteria, configured).length,
    search: (criteria, context) => search(criteria, context, settings, configured),
  };
}

/** Returns the engines that a search asks in this installation. */
function configuredEnginesOf(criteria: Criteria, configured: readonly Engine[]): Engine[] {
  return enginesOf(criteria, configured).filter((engine) => configured.includes(engine));
}

async function search(
  criteria: Criteria,
  context: FetchContext,
  settings: AiAnswersSettings,
  configured: readonly Engine[],
): Promise<Fetched> {
  const question: SearchQuestion = { prompt: promptOf(criteria), market: criteria.market?.trim() || null };
  const engines = configuredEnginesOf(criteria, configured);
  const missing = enginesOf(criteria, configured).filter((engine) => !configured.includes(engine));
  const missed = missing.map(
    (engine) => `ai_answers: ${engine} is no longer configured; set ${tokenSetting(engine)}`,
  );
  const outcomes = await Promise.all(
    engines.map((engine) => outcomeOf(askOnce(engine, question.prompt, criteria, context, settings))),
  );
  const faults = outcomes.filter((outcome) => outcome instanceof UpstreamError);
  if (faults.length === outcomes.length) throw noneOf(faults, missed);

  const { since, now } = context;
  const history = readHistory(context.state['history']);
  const runs = runsOf(criteria, engines, outcomes, history, now);
  const after = withRuns(history, runs, now);
  context.state['history'] = writeHistory(after);
  const answers = outcomes.filter((outcome): outcome is Answer => !(outcome instanceof UpstreamError));
  return {
    items: since ? reportSince(since, question, after) : reportOfAll(question, runs),
    gap: since !== undefined && (after.missedUntil ?? 0) > since.getTime() + OVERLAP_MS,
    warnings: [
      ...missed,
      ...faults.map(({ message }) => message),
      ...answers.flatMap(({ warnings }) => warnings),
    ],
    units: answers.length,
    observations: observationsOf(question, runs),
  };
}

/** Searches with the same prompt and country share one request to an engine, even if their brands differ. */
function askOnce(
  engine: Engine,
  prompt: string,
  criteria: Criteria,
  context: FetchContext,
  settings: AiAnswersSettings,
): Promise<Answer> {
  const { token = '', model = '' } = settings[engine] ?? {};
  const country = placeOf(criteria);
  const key = JSON.stringify(['ai_answers', engine, model, country, prompt]);
  return context.shared(key, () => ask(engine, token, { prompt, model, country }, context));
}

function runsOf(
  criteria: Criteria,
  engines: readonly Engine[],
  outcomes: readonly (Answer | UpstreamError)[],
  history: History,
  now: Date,
): Run[] {
  const brands = brandsOf(criteria);
  const domains = brandDomainsOf(criteria);
  return engines.flatMap((engine, n) => {
    const answer = outcomes[n];
    if (!answer || answer instanceof UpstreamError) return [];
    return [runOf(history, engine, now, answer, readBrands(answer.text, answer.citations, brands, domains))];
  });
}

function outcomeOf(answer: Promise<Answer>): Promise<Answer | UpstreamError> {
  return answer.catch((error: unknown) => {
    if (error instanceof UpstreamError) return error;
    throw error;
  });
}

function noneOf(faults: readonly UpstreamError[], missed: readonly string[]): UpstreamError {
  const [first] = faults;
  if (!first) return new UpstreamError('unauthorized', missed.join('; '));
  if (faults.length === 1) return first;
  const reasons = faults.map(({ message }) => message).join('; ');
  const waits = faults.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  return new UpstreamError(
    first.kind,
    `none of the ${faults.length} engines answered: ${reasons}`,
    first.statusCode,
    // The shortest wait, because a check needs only one engine that answers.
    waits.length === 0 ? undefined : Math.min(...waits),
  );
}
