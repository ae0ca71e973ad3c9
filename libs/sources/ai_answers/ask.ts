import { parseJson } from '../shared/json-answer.js';
import { UpstreamError, type FetchContext } from '../source.js';
import type { Answer, Engine, Question } from './answer.js';
import { ENGINE_APIS } from './engines.js';
import { brokenOff } from './reading.js';
import { REFUSALS, refusalOf } from './refusals.js';

/** Engines think, search and think again: answers of up to 70 s were seen. A claim on a search holds for 180. */
const DEADLINE_MS = 90_000;
/** Below it an engine that has paused is not asked to go on: it would not come to an end. */
const SHORTEST_TURN_MS = 5_000;
const MAX_PAUSES = 3;
/** Where an engine asks for patience, and does not say how much. */
const PATIENCE_MS = 30_000;

/** What asking needs of a read's context. */
export type AskContext = Pick<FetchContext, 'http' | 'now' | 'session'>;

/** Asks one engine. Throws `UpstreamError`. */
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
    throw isHeldOff(error) ? stillWaiting(engine, error, context) : holdingOff(engine, error, context);
  }
}

/** The lane has not let the request through: the engine's quota says that it is to be left alone. */
function isHeldOff({ kind, statusCode }: UpstreamError): boolean {
  return kind === 'quota_spent' && statusCode === 0;
}

/**
 * Keeps the patience that an engine asked for, from the moment of its answer on. One engine's patience is not the
 * others': its quota is closed for as long, and the lane goes on.
 */
function holdingOff(engine: Engine, fault: UpstreamError, context: AskContext): UpstreamError {
  const waitMs = fault.retryAfterMs ?? (fault.kind === 'rate_limited' ? PATIENCE_MS : 0);
  if (waitMs > 0) {
    faultsOf(context).set(engine, fault);
    context.http.holdOff({ waitMs, reason: fault.message, quota: engine });
  }
  return fault;
}

/** The lane tells every closed quota alike; what the engine itself has said is told where it is known. */
function stillWaiting(engine: Engine, { kind, retryAfterMs }: UpstreamError, context: AskContext) {
  const said = faultsOf(context).get(engine);
  const wait = retryAfterMs === undefined ? '' : ` for another ${Math.ceil(retryAfterMs / 1000)} s`;
  const reason = `ai_answers: ${engine} asked for patience and is left alone${wait}`;
  return new UpstreamError(
    said?.kind ?? kind,
    said ? `${reason}: ${said.message}` : reason,
    said?.statusCode,
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
  let said: readonly unknown[] = [];
  for (let pauses = 0; ; pauses += 1) {
    const deadlineMs = Math.ceil(endsAt - performance.now());
    if (pauses > MAX_PAUSES || deadlineMs < SHORTEST_TURN_MS) throw brokenOff(engine, 'pause_turn');
    const response = await http.request({
      method: 'POST',
      url: api.url(question.model),
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...api.headers(token),
      },
      body: JSON.stringify(api.body(question, said)),
      accept: REFUSALS,
      spends: { quota: engine, points: 1 },
      deadlineMs: Math.min(DEADLINE_MS, deadlineMs),
    });
    if (response.status >= 300) throw refusalOf(engine, response, now);
    const turn = api.read(parseJson('ai_answers', response.text, response.status), said);
    if ('answer' in turn) return turn.answer;
    said = turn.goOn;
  }
}

/** With what each engine last asked for patience. */
function faultsOf({ session }: AskContext): Map<Engine, UpstreamError> {
  const key = 'ai_answers.faults';
  const kept = session.get(key) as Map<Engine, UpstreamError> | undefined;
  if (kept) return kept;
  const fresh = new Map<Engine, UpstreamError>();
  session.set(key, fresh);
  return fresh;
}
