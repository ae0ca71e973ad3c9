import { listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { ENGINES, type Answer, type Engine } from './answer.js';
import type { BrandReading } from './brands.js';

/** An answer of one engine, with what was read from it. */
export interface Run {
  engine: Engine;
  /** ISO 8601. */
  answeredAt: string;
  answer: Omit<Answer, 'warnings'>;
  brands: BrandReading[];
  /** The run before; null at the engine's first. */
  previous: PreviousRun | null;
}

/** What a run is compared with. */
export interface PreviousRun {
  answeredAt: string;
  brands: BrandReading[];
}

/** What is known of the answers to one search, whoever saw which read. */
export interface History {
  /** Until then there may have been changes that this history does not hold (epoch milliseconds). */
  missedUntil?: number | undefined;
  engines: Partial<Record<Engine, EngineHistory>>;
}

/** One engine's answers so far. */
export interface EngineHistory {
  last: PreviousRun;
  /** Runs that brought news, the oldest first. */
  news: readonly Run[];
}

const VERSION = 1;
/** What is older is not told any more; no watch asks less often. */
const KEPT_MS = 31 * 86_400_000;
/** Of one engine. They hold whole answers. */
const MOST_NEWS = 10;

/** The run that an answer is, beside the engine's last one. */
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
 * True where a run is news: an engine's first, or one that mentions or cites other brands than the last. Never by its
 * words: these differ every time.
 */
export function isNews({ previous, brands }: Run): boolean {
  if (!previous) return true;
  return (
    changed(previous.brands, brands, 'mentioned').length > 0 ||
    changed(previous.brands, brands, 'cited').length > 0
  );
}

/** The brands of which one of the two answers has changed. */
export function changed(
  before: readonly BrandReading[],
  after: readonly BrandReading[],
  question: 'mentioned' | 'cited',
): BrandReading[] {
  const was = new Map(before.map((reading) => [reading.brand, reading[question]]));
  return after.filter((reading) => reading[question] !== (was.get(reading.brand) ?? false));
}

/** The history with these runs, within its bounds: nothing older than 31 days, ten runs with news of each engine. */
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
    const count = Math.max(old, known.news.length - MOST_NEWS);
    const last = known.news[count - 1];
    if (last) missedUntil = Math.max(missedUntil ?? 0, Date.parse(last.answeredAt));
    engines[engine] = { ...known, news: known.news.slice(Math.max(0, count)) };
  }
  return { missedUntil, engines };
}

/** The history as JSON. */
export function writeHistory({ missedUntil, engines }: History): JsonRecord {
  return {
    v: VERSION,
    ...(missedUntil !== undefined && { missed: missedUntil }),
    engines: Object.fromEntries(
      Object.entries(engines).map(([engine, { last, news }]) => [engine, { last, news: news.map(written) }]),
    ),
  };
}

/** The history that a state holds; an empty one where it holds none that can be read. */
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
    // It was written by us, from an answer that was read.
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
