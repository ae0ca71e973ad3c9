import { nextMidnightIn } from '#kernel';
import { recordOf, textOf, unknownShape, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type DailyQuota, type UpstreamErrorKind, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';
import { parseBigNumbers } from './big-numbers.js';
import type { VideoQuery } from './query.js';
import { SETTINGS, withToken, type SignedInContext, type TiktokSettings } from './sign-in.js';

const FIELDS =
  'id,video_description,create_time,region_code,share_count,view_count,like_count,comment_count,music_id,hashtag_names,username,voice_to_text,video_duration';
const QUERY_URL = `https://open.tiktokapis.com/v2/research/video/query/?fields=${FIELDS}`;
// Maximum time of one request. Searches are slow: some responses take more than half a minute.
const DEADLINE_MS = 60_000;
const nextReset = nextMidnightIn('UTC');

/** Videos of one page: TikTok's maximum. */
export const PAGE_SIZE = 100;
/** TikTok's daily limit of a project. Failed requests also count. */
export const QUOTAS = { requests: { points: 1_000, nextReset } } satisfies Record<string, DailyQuota>;

/** One page of the videos of some days. */
export interface VideoPage {
  query: VideoQuery;
  /** First and last day in UTC: `YYYYMMDD`. */
  startDate: string;
  endDate: string;
  /** Where the previous page ended; absent for the first. */
  place?: { cursor: number; searchId: string | undefined } | undefined;
}

/** A refused request, with TikTok's reason. */
export class RefusedByTiktok extends UpstreamError {
  constructor(
    kind: UpstreamErrorKind,
    message: string,
    statusCode: number,
    retryAfterMs: number | undefined,
    /** TikTok's error code, for example `invalid_params`; empty if there is none. */
    readonly code: string,
  ) {
    super(kind, message, statusCode, retryAfterMs);
  }
}

/**
 * Requests a page of videos, and returns the response's `data`.
 * @throws UpstreamError in most cases a `RefusedByTiktok`
 */
export function askVideos(
  context: SignedInContext,
  settings: TiktokSettings,
  page: VideoPage,
): Promise<JsonRecord> {
  const isEnded = (error: unknown) =>
    error instanceof RefusedByTiktok && error.kind === 'unauthorized' && error.code !== SCOPE_CODE;
  return withToken(context, settings, (token) => askWith(token, context, page), isEnded);
}

async function askWith(
  token: string,
  { http, now }: SignedInContext,
  { query, startDate, endDate, place }: VideoPage,
): Promise<JsonRecord> {
  const response = await http.request({
    method: 'POST',
    url: QUERY_URL,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      query,
      start_date: startDate,
      end_date: endDate,
      max_count: PAGE_SIZE,
      ...(place && { cursor: place.cursor, search_id: place.searchId }),
    }),
    // The bodies of these statuses contain the reason.
    accept: [400, 401, 403, 429],
    spends: { quota: 'requests', points: 1 },
    deadlineMs: DEADLINE_MS,
  });
  const isFine = response.status < 300;
  const answer = isFine ? recordOf(parseBigNumbers(response.text, response.status)) : undefined;
  const code = isFine ? codeOf(answer) : codeIn(response.text);
  if (isFine && code === undefined) throw unknownShape('tiktok', 'an object with an "error" that has a code');
  if (!isFine || code !== 'ok') {
    const fault = faultOf(response, code ?? '', now);
    if (fault.kind === 'quota_spent' && fault.retryAfterMs !== undefined) {
      http.holdOff({ waitMs: fault.retryAfterMs, reason: fault.message, quota: 'requests' });
    }
    throw fault;
  }
  const data = recordOf(answer?.['data']);
  if (!data) throw unknownShape('tiktok', 'an object "data"');
  return data;
}

const SCOPE_CODE = 'scope_not_authorized';

function faultOf({ status, headers }: UpstreamResponse, code: string, now: Date): RefusedByTiktok {
  const answered = `tiktok answered ${status}`;
  const refused = (kind: UpstreamErrorKind, why: string, retryAfterMs?: number) =>
    new RefusedByTiktok(kind, `${answered}: ${why}`, status, retryAfterMs, code);
  switch (code) {
    case 'daily_quota_limit_exceeded':
      return refused(
        'quota_spent',
        "the day's requests are used up; new requests are allowed from 00:00 UTC",
        nextReset(now).getTime() - now.getTime(),
      );
    case SCOPE_CODE:
      return refused(
        'unauthorized',
        'the project has no permission to read videos; it needs the scope research.data.basic, which TikTok gives to approved researchers',
      );
    case 'invalid_params':
      return refused(
        'unexpected_status',
        'the request was not understood; check the words and filters of the search',
      );
    case 'internal_error':
    case 'timeout':
      return refused('server_error', 'the upstream failed; Earshot tries again later');
  }
  if (status < 300) {
    const shown = /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : '';
    return refused('unexpected_status', `the request was refused${shown}`);
  }
  const { kind, message, retryAfterMs } = statusError('tiktok', SETTINGS, status, headers, now);
  return new RefusedByTiktok(kind, message, status, retryAfterMs, code);
}

function codeIn(text: string): string | undefined {
  try {
    return codeOf(recordOf(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

function codeOf(answer: JsonRecord | undefined): string | undefined {
  return textOf(recordOf(answer?.['error'])?.['code']);
}
