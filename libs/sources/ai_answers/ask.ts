import { parseJson } from '../shared/json-answer.js';
import { UpstreamError, type FetchContext } from '../source.js';
import type { Answer, Engine, Question } from './answer.js';
import { ENGINE_APIS } from './engines.js';
import { incompleteAnswer } from './reading.js';
import { REFUSALS, refusalOf } from './refusals.js';

/** Maximum time of one question. Some answers took 70 s, because engines can think and search repeatedly. */
const DEADLINE_MS = 90_000;
/**
 * If less time than this is left, Earshot does not ask a paused engine to continue, because the engine would not
 * finish.
 */
const MIN_TURN_MS = 5_000;
const MAX_PAUSES = 3;

/** The part of a read's context that questions need. */
export type AskContext = Pick<FetchContext, 'http' | 'now' | 'session'>;

/**
 * Asks one engine.
 * @throws UpstreamError
 */
export async function ask(
  engine: Engine,
  token: string,
  question: Question,
  context: AskContext,
): Promise<Answer> {
  try {
    return await takeTurns(engine, token, question, context);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw isQuotaClosed(error) ? waitError(engine, error, context) : closeQuota(engine, error, context);
  }
}

/** True if the lane did not send the request, because the engine's quota is closed. */
function isQuotaClosed({ kind, statusCode }: UpstreamError): boolean {
  return kind === 'quota_spent' && statusCode === 0;
}

/**
 * If the engine asked Earshot to wait, closes the engine's quota for this time. The other engines still get requests.
 */
function closeQuota(engine: Engine, fault: UpstreamError, context: AskContext): UpstreamError {
  if (fault.waitMs > 0) {
    faultsOf(context).set(engine, fault);
    context.http.holdOff({ waitMs: fault.waitMs, reason: fault.message, quota: engine });
  }
  return fault;
}

/** The lane's error is the same for every closed quota. So Earshot reports the engine's own error if it is known. */
function waitError(engine: Engine, { kind, retryAfterMs }: UpstreamError, context: AskContext) {
  const engineFault = faultsOf(context).get(engine);
  const wait = retryAfterMs === undefined ? '' : ` for another ${Math.ceil(retryAfterMs / 1000)} s`;
  const reason = `ai_answers: ${engine} asked Earshot to wait, and gets no requests${wait}`;
  return new UpstreamError(
    engineFault?.kind ?? kind,
    engineFault ? `${reason}: ${engineFault.message}` : reason,
    engineFault?.statusCode,
    retryAfterMs,
  );
}

async function takeTurns(
  engine: Engine,
  token: string,
  question: Question,
  { http, now }: AskContext,
): Promise<Answer> {
  const api = ENGINE_APIS[engine];
  const endsAt = performance.now() + DEADLINE_MS;
  let earlier: readonly unknown[] = [];
  for (let pauses = 0; ; pauses += 1) {
    const deadlineMs = Math.ceil(endsAt - performance.now());
    if (pauses > MAX_PAUSES || deadlineMs < MIN_TURN_MS) throw incompleteAnswer(engine, 'pause_turn');
    const response = await http.request({
      method: 'POST',
      url: api.url(question.model),
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...api.headers(token),
      },
      body: JSON.stringify(api.body(question, earlier)),
      accept: REFUSALS,
      spends: { quota: engine, points: 1 },
      deadlineMs: Math.min(DEADLINE_MS, deadlineMs),
    });
    if (response.status >= 300) throw refusalOf(engine, response, now);
    const turn = api.read(parseJson('ai_answers', response.text, response.status), earlier);
    if ('answer' in turn) return turn.answer;
    earlier = turn.continueWith;
  }
}

/** For each engine, the last fault that asked Earshot to wait. */
function faultsOf({ session }: AskContext): Map<Engine, UpstreamError> {
  const key = 'ai_answers.faults';
  const kept = session.get(key) as Map<Engine, UpstreamError> | undefined;
  if (kept) return kept;
  const fresh = new Map<Engine, UpstreamError>();
  session.set(key, fresh);
  return fresh;
}
