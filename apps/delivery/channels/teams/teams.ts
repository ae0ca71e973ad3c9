import { errorCode, jsonOf, chatResultOf, type ChatResponse } from '../chat-response.js';

/** Statuses that mean that the workflow was deleted. */
const GONE = [404, 410];

/** A workflow answers 202; its errors are JSON `{error: {code, message}}`. */
export function teamsResult(answer: ChatResponse) {
  const { error } = jsonOf(answer.body) as { error?: { code?: unknown } | null };
  return chatResultOf('Teams', answer, GONE, errorCode(error?.code));
}
