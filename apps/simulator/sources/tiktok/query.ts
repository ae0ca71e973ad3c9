import { hashtagsOf, regionOf, musicIdOf, durationOf } from './videos.js';
import type { SimPost } from '../../world/post.js';

type Test = (post: SimPost) => boolean;

/** The test of a query, or TikTok's error message. */
export type Query = { matches: Test } | { refusal: string };

const OPERATIONS = ['EQ', 'IN', 'GT', 'GTE', 'LT', 'LTE'];
const LENGTHS: Record<string, (seconds: number) => boolean> = {
  SHORT: (seconds) => seconds < 15,
  MID: (seconds) => seconds >= 15 && seconds <= 60,
  LONG: (seconds) => seconds > 60 && seconds <= 300,
  EXTRA_LONG: (seconds) => seconds > 300,
};

/** The values of a video by field. The fields `keyword` and `video_length` have their own tests. */
const VALUES: Record<string, (post: SimPost) => string[]> = {
  hashtag_name: (post) => hashtagsOf(post).map((tag) => tag.toLowerCase()),
  username: ({ author }) => [author.toLowerCase()],
  region_code: (post) => [regionOf(post).toLowerCase()],
  create_date: ({ publishedAt }) => [dayOf(publishedAt)],
  video_id: ({ id }) => [id],
  music_id: (post) => [musicIdOf(post)],
};

/**
 * Reads a query of the Research API. A video must fulfil all conditions of `and`, at least one of `or`, and none of
 * `not`. A keyword can be anywhere in a description, in upper or lower case.
 */
export function tiktokQuery(query: unknown): Query {
  if (typeof query !== 'object' || query === null) return { refusal: 'Missing query' };
  const parts = query as Record<string, unknown>;
  const unknown = Object.keys(parts).find((name) => !['and', 'or', 'not'].includes(name));
  if (unknown !== undefined) return { refusal: `Invalid query: unknown field ${unknown}` };
  const [and, or, not] = ['and', 'or', 'not'].map((name) => conditionsOf(parts[name]));
  if (typeof and === 'string') return { refusal: and };
  if (typeof or === 'string') return { refusal: or };
  if (typeof not === 'string') return { refusal: not };
  if (!and || !or || !not || and.length + or.length + not.length === 0)
    return { refusal: 'Invalid query: it has no condition' };
  return {
    matches: (post) =>
      and.every((test) => test(post)) &&
      (or.length === 0 || or.some((test) => test(post))) &&
      !not.some((test) => test(post)),
  };
}

/** Returns the day in UTC: `YYYYMMDD`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}

function conditionsOf(list: unknown): Test[] | string {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return 'Invalid query: a list of conditions is wanted';
  const tests = list.map(conditionOf);
  return tests.find((test) => typeof test === 'string') ?? tests.filter((test) => typeof test !== 'string');
}

function conditionOf(condition: unknown): Test | string {
  const { operation, field_name, field_values } = (condition ?? {}) as Record<string, unknown>;
  if (typeof operation !== 'string' || !OPERATIONS.includes(operation))
    return `Invalid operation: ${String(operation)}`;
  if (!Array.isArray(field_values) || field_values.length === 0) return 'Invalid field_values';
  if (operation !== 'IN' && field_values.length > 1) return `Operation ${operation} takes one value`;
  const wanted = field_values.map((value) => String(value).toLowerCase());
  if (field_name === 'keyword') return ({ text }) => wanted.some((word) => text.toLowerCase().includes(word));
  if (field_name === 'video_length')
    return (post) => wanted.some((name) => LENGTHS[name.toUpperCase()]?.(durationOf(post)));
  const values = typeof field_name === 'string' ? VALUES[field_name] : undefined;
  if (!values) return `Invalid field_name: ${String(field_name)}`;
  return (post) => values(post).some((value) => wanted.some((each) => compares(value, operation, each)));
}

function compares(value: string, operation: string, wanted: string): boolean {
  switch (operation) {
    case 'GT':
      return Number(value) > Number(wanted);
    case 'GTE':
      return Number(value) >= Number(wanted);
    case 'LT':
      return Number(value) < Number(wanted);
    case 'LTE':
      return Number(value) <= Number(wanted);
    default:
      return value === wanted;
  }
}
