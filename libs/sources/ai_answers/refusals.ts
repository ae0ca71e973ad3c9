import { nextMidnightIn } from '#kernel';
import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';
import { modelSetting, tokenSetting, type Engine } from './answer.js';

/** The statuses 400 to 599. The bodies of these responses say more precisely what is wrong. */
export const REFUSALS: readonly number[] = Array.from({ length: 200 }, (_, n) => 400 + n);

/** How long Earshot waits if the paid credit is used up, because retries fail until somebody has paid. */
const UNPAID_WAIT_MS = 3_600_000;
const googlesMidnight = nextMidnightIn('America/Los_Angeles');

/** Returns the fault of an engine that answered with an error status, with advice for people. */
export function refusalOf(
  engine: Engine,
  { status, headers, text }: UpstreamResponse,
  now: Date,
): UpstreamError {
  const error = errorIn(text);
  const answered = `ai_answers answered ${status}`;
  const fault = statusError('ai_answers', [tokenSetting(engine)], status, headers, now);
  const saying = (kind: UpstreamError['kind'], reason: string, waitMs?: number) =>
    new UpstreamError(kind, `${answered}: ${reason}`, status, waitMs);

  if (isUnpaid(error)) {
    const reason = `the paid credit at ${engine} is used up; add credit; Earshot tries again in an hour`;
    return saying('quota_spent', reason, UNPAID_WAIT_MS);
  }
  if (status === 429 && isDaily(error)) {
    const reason = `${engine}'s requests for today are used up; Earshot asks it again after midnight in California`;
    return saying('quota_spent', reason, googlesMidnight(now).getTime() - now.getTime());
  }
  if (fault.kind === 'unauthorized' || isBadKey(error)) {
    return saying('unauthorized', `${engine} did not accept the key; check ${tokenSetting(engine)}`);
  }
  if (status === 429) {
    const waitMs = fault.retryAfterMs ?? retryDelayOf(error) ?? resetOf(headers);
    const wait = waitMs === undefined ? '' : `, and asks to wait ${Math.ceil(waitMs / 1000)} s`;
    return saying('rate_limited', `${engine} gets too many requests${wait}`, waitMs);
  }
  const model = modelSetting(engine);
  switch (fault.kind) {
    case 'forbidden':
      return saying(
        'forbidden',
        `${engine} does not allow this account to search; check the permissions of the account`,
      );
    case 'not_found':
      return saying('not_found', `${engine} has no such model; check ${model}`);
    case 'unexpected_status':
      return saying(
        'unexpected_status',
        `${engine} did not accept the request; if ${model} is set, check that it names a model with web search`,
      );
    default:
      return new UpstreamError(
        fault.kind,
        `${fault.message} (${engine})`,
        status,
        fault.retryAfterMs ?? retryDelayOf(error),
      );
  }
}

/** Returns the object `error` of the body; empty if there is none. All engines send it with an error status. */
function errorIn(text: string): JsonRecord {
  try {
    return recordOf(recordOf(JSON.parse(text))?.['error']) ?? {};
  } catch {
    return {};
  }
}

function isUnpaid({ type, code, message }: JsonRecord): boolean {
  if (type === 'insufficient_quota' || code === 'insufficient_quota') return true;
  // Anthropic has no code for missing credit. Only the message distinguishes this 400 from others.
  return /credit balance is too low/i.test(textOf(message) ?? '');
}

function isBadKey(error: JsonRecord): boolean {
  // Gemini answers 400 to an invalid key.
  return detailsOf(error).some(({ reason }) => reason === 'API_KEY_INVALID');
}

function isDaily(error: JsonRecord): boolean {
  const violations = detailsOf(error).flatMap((detail) => listOf(detail['violations']) ?? []);
  return violations.some((violation) => /PerDay/.test(textOf(recordOf(violation)?.['quotaId']) ?? ''));
}

function retryDelayOf(error: JsonRecord): number | undefined {
  const waits = detailsOf(error).map(({ retryDelay }) => durationOf(textOf(retryDelay)));
  return waits.find((waitMs) => waitMs !== undefined);
}

function detailsOf(error: JsonRecord): JsonRecord[] {
  return (listOf(error['details']) ?? []).map((detail) => recordOf(detail) ?? {});
}

// OpenAI reports the reset of its two windows, but not which of them is used up. So Earshot waits for the later reset.
function resetOf(headers: Record<string, string>): number | undefined {
  const waits = ['x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']
    .map((name) => durationOf(headers[name]))
    .filter((waitMs) => waitMs !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Returns the milliseconds of a duration such as "120ms", "48s", "6m0s" or "1h2m3.5s"; undefined for other texts. */
function durationOf(text: string | undefined): number | undefined {
  const parts = /^(?=\d)(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(
    text?.trim() ?? '',
  );
  if (!parts) return undefined;
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return Math.ceil(((hours * 60 + minutes) * 60 + seconds) * 1000 + ms);
}
