import { parseJson } from '../json-answer.js';
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
  const patience = patienceOf(context);
  const waitMs = (patience.get(engine) ?? 0) - context.now.getTime();
  if (waitMs > 0) {
    const reason = `ai_answers: ${engine} asked to wait, and is asked again in ${Math.ceil(waitMs / 1000)} s`;
    throw new UpstreamError('rate_limited', reason, 0, waitMs);
  }
  try {
    return await takeTurns(engine, token, question, context);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { kind, message: reason, retryAfterMs = PATIENCE_MS } = error;
    // One engine's patience is not the others': the lane goes on.
    if (kind === 'rate_limited') patience.set(engine, context.now.getTime() + retryAfterMs);
    if (kind === 'quota_spent' && error.statusCode > 0) {
      context.http.holdOff({ waitMs: retryAfterMs, reason, quota: engine });
    }
    throw error;
  }
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

function patienceOf({ session }: AskContext): Map<Engine, number> {
  const key = 'ai_answers.patience';
  const kept = session.get(key) as Map<Engine, number> | undefined;
  if (kept) return kept;
  const fresh = new Map<Engine, number>();
  session.set(key, fresh);
  return fresh;
}
