import { errorCode, jsonOf, chatResultOf, type ChatResponse } from '../chat-response.js';

/** Statuses that mean that the webhook was deleted, or that its token was replaced. */
const GONE = [401, 404];

/** Returns the URL for which Discord answers only after it has stored the message. */
export function discordUrl(webhookUrl: string): string {
  const url = new URL(webhookUrl);
  url.searchParams.set('wait', 'true');
  return url.href;
}

/**
 * Reads the result from Discord's answer. Errors are JSON `{code, message, retry_after?}`; this `retry_after` is more
 * exact than the header.
 */
export function discordResult(answer: ChatResponse) {
  const { code, retry_after: retryAfter } = jsonOf(answer.body);
  const seconds = typeof retryAfter === 'number' ? retryAfter : undefined;
  return chatResultOf('Discord', answer, GONE, errorCode(code), seconds);
}
