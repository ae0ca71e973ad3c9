import { listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { ENGINES, type Answer, type Engine } from './answer.js';
import type { BrandReading } from './brands.js';

/** An answer of one engine, and the brands in it. */
export interface Run {
  engine: Engine;
  /** ISO 8601. */
  answeredAt: string;
  answer: Omit<Answer, 'warnings'>;
  brands: BrandReading[];
  /** The engine's previous run; null for its first run. */
  previous: PreviousRun | null;
}

/** The part of the previous run that a run is compared with. */
export interface PreviousRun {
  answeredAt: string;
  brands: BrandReading[];
}

/**
 * The stored data of one search: for each engine, the time and the brands of its last answer, and its recent runs with
 * changes. All watches with this search share the history.
 */
export interface History {
  /** Changes up to this time can be missing in the history (epoch milliseconds). */
  missedUntil?: number | undefined;
  engines: Partial<Record<Engine, EngineHistory>>;
}

/** The part of the history that belongs to one engine. */
export interface EngineHistory {
  last: PreviousRun;
  /** Runs with changes, oldest first. */
  news: readonly Run[];
}

const VERSION = 1;
/** Changes are kept for this time. A watch with a longer interval can miss changes. Then its check has a gap. */
const KEPT_MS = 31 * 86_400_000;
/**
 * Maximum number of runs with changes that are stored for each engine. The number is low because each run contains a
 * whole answer.
 */
const MAX_NEWS = 10;

/** Returns the run of an answer, with the engine's last run for comparison. */
export function runOf(
  history: History,
  engine: Engine,
  now: Date,
  { warnings: _, ...answer }: Answer,
  brands: BrandReading[],
): Run {
  const previous = history.engines[engine]?.last ?? null;
  return { engine, answeredAt: now.toISOString(), answer, brands, previous };
}

/**
 * True if the run is the engine's first, or mentions or cites other brands than the previous run. A different wording
 * is not a change, because the wording differs every time.
 */
export function isNews({ previous, brands }: Run): boolean {
  if (!previous) return true;
  return (
    changed(previous.brands, brands, 'mentioned').length > 0 ||
    changed(previous.brands, brands, 'cited').length > 0
  );
}

/**
 * Returns the brands of `after` whose value of `question` differs from `before`. A brand that is missing in `before`
 * counts as false there.
 */
export function changed(
  before: readonly BrandReading[],
  after: readonly BrandReading[],
  question: 'mentioned' | 'cited',
): BrandReading[] {
  const was = new Map(before.map((reading) => [reading.brand, reading[question]]));
  return after.filter((reading) => reading[question] !== (was.get(reading.brand) ?? false));
}

/**
 * Returns the history with these runs. For each engine, keeps the runs with changes of the last 31 days, at most ten.
 */
export function withRuns(history: History, runs: readonly Run[], now: Date): History {
  const engines = { ...history.engines };
  for (const run of runs) {
    const { engine, answeredAt, brands } = run;
    const news = engines[engine]?.news ?? [];
    engines[engine] = { last: { answeredAt, brands }, news: isNews(run) ? [...news, run] : news };
  }
  let { missedUntil } = history;
  for (const engine of ENGINES) {
    const known = engines[engine];
    if (!known) continue;
    const old = known.news.filter(
      ({ answeredAt }) => Date.parse(answeredAt) < now.getTime() - KEPT_MS,
    ).length;
    const count = Math.max(old, known.news.length - MAX_NEWS);
    const last = known.news[count - 1];
    if (last) missedUntil = Math.max(missedUntil ?? 0, Date.parse(last.answeredAt));
    engines[engine] = { ...known, news: known.news.slice(Math.max(0, count)) };
  }
  return { missedUntil, engines };
}

/** Returns the history as JSON. */
export function writeHistory({ missedUntil, engines }: History): JsonRecord {
  return {
    v: VERSION,
    ...(missedUntil !== undefined && { missed: missedUntil }),
    engines: Object.fromEntries(
      Object.entries(engines).map(([engine, { last, news }]) => [engine, { last, news: news.map(written) }]),
    ),
  };
}

/**
 * Reads the history from a stored state. Returns an empty history if the stored history is missing or
 * unreadable.
 */
export function readHistory(value: unknown): History {
  const kept = recordOf(value);
  const engines = recordOf(kept?.['engines']);
  if (kept?.['v'] !== VERSION || !engines) return { engines: {} };
  return {
    missedUntil: numberOf(kept['missed']),
    engines: Object.fromEntries(
      ENGINES.flatMap((engine) => {
        const { last, news } = recordOf(engines[engine]) ?? {};
        const known = readPrevious(last);
        if (!known) return [];
        const runs = (listOf(news) ?? []).flatMap((run) => readRun(engine, recordOf(run) ?? {}) ?? []);
        return [[engine, { last: known, news: runs }]];
      }),
    ),
  };
}

function written({ answeredAt, answer, brands, previous }: Run): JsonRecord {
  return { answeredAt, answer, brands, previous };
}

function readRun(engine: Engine, { answeredAt, answer, brands, previous }: JsonRecord): Run | undefined {
  const at = textOf(answeredAt);
  if (at === undefined || !recordOf(answer)) return undefined;
  return {
    engine,
    answeredAt: at,
    // Not validated again, because Earshot parsed the answer before storing it.
    answer: answer as Run['answer'],
    brands: (listOf(brands) ?? []) as BrandReading[],
    previous: readPrevious(previous) ?? null,
  };
}

function readPrevious(value: unknown): PreviousRun | undefined {
  const { answeredAt, brands } = recordOf(value) ?? {};
  const at = textOf(answeredAt);
  return at === undefined ? undefined : { answeredAt: at, brands: (listOf(brands) ?? []) as BrandReading[] };
}
