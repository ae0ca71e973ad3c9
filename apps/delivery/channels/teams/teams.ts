import { errorCode, jsonOf, verdictOf, type ChatAnswer } from '../verdict.js';

/** The workflow was deleted. */
const GONE = [404, 410];

/** A workflow answers 202; its errors are JSON `{error: {code, message}}`. */
export function teamsVerdict(answer: ChatAnswer) {
  const { error } = jsonOf(answer.body) as { error?: { code?: unknown } | null };
  return verdictOf('Teams', answer, GONE, errorCode(error?.code));
}
