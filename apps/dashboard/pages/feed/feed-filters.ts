import type { Intent, Label, Sentiment, Source } from '../../api/types.js';
import { INTENTS, LABELS, SENTIMENTS, SOURCES } from '../../api/values.js';

/** The windows of the feed, in days. */
export const WINDOWS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
/** The name of a window. */
export type Window = keyof typeof WINDOWS;

const DAY_MS = 86_400_000;
const QUESTION_MS = 600_000;

/**
 * The filters in the address bar. Filters of the API have the same names as in the API, except `dropped`, which is
 * `include=dropped` in the API and in the address.
 */
export interface FeedFilters {
  q: string;
  mode: 'text' | 'semantic';
  keyword: string[];
  source: Source[];
  sentiment: Sentiment[];
  intent: Intent[];
  label: Label[];
  lang: string[];
  author: string[];
  minRelevance: number;
  /** The name of the window; ignored if `since` is not empty. */
  window: Window;
  /** ISO 8601, or empty. */
  since: string;
  until: string;
  dropped: boolean;
  stories: boolean;
}

const LISTS = {
  keyword: undefined,
  source: SOURCES,
  sentiment: SENTIMENTS,
  intent: INTENTS,
  label: LABELS,
  lang: undefined,
  author: undefined,
} as const;
type ListName = keyof typeof LISTS;
const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** Returns the filters of an address. Invalid parts are omitted, so that an old link still works. */
export function readFilters(params: URLSearchParams): FeedFilters {
  const window = params.get('window') as Window;
  const relevance = Number(params.get('minRelevance') ?? 0);
  const lists = LIST_NAMES.map((name) => {
    const known = LISTS[name] as readonly string[] | undefined;
    return [name, params.getAll(name).filter((value) => value !== '' && (known?.includes(value) ?? true))];
  });
  return {
    ...(Object.fromEntries(lists) as Pick<FeedFilters, ListName>),
    q: params.get('q') ?? '',
    mode: params.get('mode') === 'semantic' ? 'semantic' : 'text',
    minRelevance: relevance >= 1 && relevance <= 100 ? Math.round(relevance) : 0,
    window: window in WINDOWS ? window : '7d',
    since: timeIn(params.get('since')),
    until: timeIn(params.get('until')),
    dropped: params.get('include') === 'dropped',
    stories: params.get('stories') === '1',
  };
}

/** Returns the filters as parameters of an address, without default values. */
export function writeFilters(filters: FeedFilters): URLSearchParams {
  const params = new URLSearchParams();
  if (filters.q) params.set('q', filters.q);
  if (filters.mode === 'semantic') params.set('mode', 'semantic');
  for (const name of LIST_NAMES) for (const value of filters[name]) params.append(name, value);
  if (filters.minRelevance > 0) params.set('minRelevance', String(filters.minRelevance));
  if (filters.since) params.set('since', filters.since);
  else if (filters.window !== '7d') params.set('window', filters.window);
  if (filters.until) params.set('until', filters.until);
  if (filters.dropped) params.set('include', 'dropped');
  if (filters.stories) params.set('stories', '1');
  return params;
}

/**
 * Returns the filters in the format of the API. If `since` is empty, the period begins one window before `now`. In a
 * search by meaning, `now` is rounded down to ten minutes: the API charges a repeated question again if its period
 * begins at another time.
 * @param now ms
 */
export function apiFilters(filters: FeedFilters, now: number) {
  const { q, mode, minRelevance, dropped, until } = filters;
  const end = mode === 'semantic' ? now - (now % QUESTION_MS) : now;
  const since = filters.since || new Date(end - WINDOWS[filters.window] * DAY_MS).toISOString();
  const lists = LIST_NAMES.filter((name) => filters[name].length > 0).map((name) => [name, filters[name]]);
  return {
    ...(Object.fromEntries(lists) as Partial<Pick<FeedFilters, ListName>>),
    ...(q.trim() && { q: [q.trim()] }),
    ...(mode === 'semantic' && q.trim() && { mode: 'semantic' as const }),
    ...(minRelevance > 0 && { minRelevance }),
    ...(dropped && { include: ['dropped' as const] }),
    since,
    ...(until && { until }),
  };
}

/** The filters in the format of the API. */
export type ApiFilters = ReturnType<typeof apiFilters>;

/** Values that remove all filters except the period. */
export const NO_FILTERS = {
  q: '',
  mode: 'text',
  keyword: [],
  source: [],
  sentiment: [],
  intent: [],
  label: [],
  lang: [],
  author: [],
  minRelevance: 0,
  dropped: false,
} satisfies Partial<FeedFilters>;

/** Returns whether a filter other than the period leaves out mentions. */
export const isNarrowed = (filters: FeedFilters) =>
  filters.q.trim() !== '' || filters.minRelevance > 0 || LIST_NAMES.some((name) => filters[name].length > 0);

/** Returns the time in the format of the API; an empty text for an invalid time, or a year with more than four digits. */
export function timeIn(text: string | null): string {
  const time = text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : '';
  return /^\d{4}-/.test(time) ? time : '';
}
