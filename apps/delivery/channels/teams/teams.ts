import { errorCode, jsonOf, chatResultOf, type ChatResponse } from '../chat-response.js';

/** Statuses that mean that the workflow was deleted. */
const GONE = [404, 410];

/** Reads the result from the answer of a workflow: 202 without an error, otherwise JSON `{error: {code, message}}`. */
export function teamsResult(answer: ChatResponse) {
  const { error } = jsonOf(answer.body) as { error?: { code?: unknown } | null };
  return chatResultOf('Teams', answer, GONE, errorCode(error?.code));
}
