import { jsonOf, chatResultOf, waitMs, type ChatResponse, type ChatResult } from '../chat-response.js';

/**
 * Statuses that mean that the destination is gone: the token is not valid, the bot was removed from the chat, or there
 * is no such bot.
 */
const GONE = [401, 403, 404];
const BAD_REQUEST = 400;
const API = 'https://api.telegram.org';

/** @param botToken must have been checked, because it becomes a part of the path */
export function telegramUrl(botToken: string): string {
  return `${API}/bot${botToken}/sendMessage`;
}

/** Reads the result from the Bot API's answer `{ok, error_code?, description?, parameters?: {retry_after?}}`. */
export function telegramResult(answer: ChatResponse): ChatResult {
  const { ok, description, parameters } = jsonOf(answer.body) as {
    ok?: unknown;
    description?: unknown;
    parameters?: { retry_after?: unknown } | null;
  };
  const isLost =
    answer.status === BAD_REQUEST && typeof description === 'string' && /chat not found/i.test(description);
  const stated = parameters?.retry_after;
  const seconds = typeof stated === 'number' ? stated : undefined;
  const result = chatResultOf(
    'Telegram',
    answer,
    isLost ? [...GONE, BAD_REQUEST] : GONE,
    isLost ? 'chat not found' : '',
    seconds,
  );
  if (!result.delivered || ok !== false) return result;
  return {
    ...result,
    delivered: false,
    message: 'Telegram answered that it did not send the message',
    retryAfterMs: waitMs(seconds) ?? result.retryAfterMs,
  };
}
