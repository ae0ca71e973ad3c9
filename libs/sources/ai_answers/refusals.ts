import { nextMidnightIn } from '#kernel';
import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';
import { modelSetting, tokenSetting, type Engine } from './answer.js';

/** What engines answer besides 2xx; all of it tells more than its status. */
export const REFUSALS: readonly number[] = Array.from({ length: 200 }, (_, n) => 400 + n);

/** What was paid for does not come back by itself; until somebody has paid, asking again is no use. */
const UNPAID_WAIT_MS = 3_600_000;
const googlesMidnight = nextMidnightIn('America/Los_Angeles');

/** The fault of an engine that answered with a status of refusal, told so that a person knows what to do. */
export function refusalOf(
  engine: Engine,
  { status, headers, text }: UpstreamResponse,
  now: Date,
): UpstreamError {
  const error = errorIn(text);
  const told = `ai_answers answered ${status}`;
  const fault = statusError('ai_answers', [tokenSetting(engine)], status, headers, now);
  const saying = (kind: UpstreamError['kind'], reason: string, waitMs?: number) =>
    new UpstreamError(kind, `${told}: ${reason}`, status, waitMs);

  if (isUnpaid(error)) {
    const reason = `what was paid for at ${engine} is used up; top it up, it is asked again in an hour`;
    return saying('quota_spent', reason, UNPAID_WAIT_MS);
  }
  if (status === 429 && isDaily(error)) {
    const reason = `${engine}'s requests of the day are used up; it is asked again after its midnight`;
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
      return saying('forbidden', `${engine} does not let this account search; see what the account may use`);
    case 'not_found':
      return saying('not_found', `${engine} has no such model; check ${model}`);
    case 'unexpected_status':
      return saying(
        'unexpected_status',
        `${engine} did not take the request; check that ${model}, where it is set, names a model with web search`,
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

/** What engines say beside the status: all of them in an object `error`. */
function errorIn(text: string): JsonRecord {
  try {
    return recordOf(recordOf(JSON.parse(text))?.['error']) ?? {};
  } catch {
    return {};
  }
}

function isUnpaid({ type, code, message }: JsonRecord): boolean {
  if (type === 'insufficient_quota' || code === 'insufficient_quota') return true;
  // Anthropic has no word for it: a 400 like any other, but for this.
  return /credit balance is too low/i.test(textOf(message) ?? '');
}

function isBadKey(error: JsonRecord): boolean {
  // Gemini answers 400 to a key that is not one.
  return detailsOf(error).some(({ reason }) => reason === 'API_KEY_INVALID');
}

function isDaily(error: JsonRecord): boolean {
  const violations = detailsOf(error).flatMap((detail) => listOf(detail['violations']) ?? []);
  return violations.some((violation) => /PerDay/.test(textOf(recordOf(violation)?.['quotaId']) ?? ''));
}

function retryDelayOf(error: JsonRecord): number | undefined {
  const told = detailsOf(error).map(({ retryDelay }) => durationOf(textOf(retryDelay)));
  return told.find((waitMs) => waitMs !== undefined);
}

function detailsOf(error: JsonRecord): JsonRecord[] {
  return (listOf(error['details']) ?? []).map((detail) => recordOf(detail) ?? {});
}

// OpenAI says when each of its two windows begins anew, and not which one was used up.
function resetOf(headers: Record<string, string>): number | undefined {
  const waits = ['x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']
    .map((name) => durationOf(headers[name]))
    .filter((waitMs) => waitMs !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** "120ms", "48s", "6m0s", "1h2m3.5s". */
function durationOf(text: string | undefined): number | undefined {
  const parts = /^(?=\d)(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(
    text?.trim() ?? '',
  );
  if (!parts) return undefined;
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return Math.ceil(((hours * 60 + minutes) * 60 + seconds) * 1000 + ms);
}
