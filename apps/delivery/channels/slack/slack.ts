import { errorCode, chatResultOf, type ChatResponse } from '../chat-response.js';

/** 403: the webhook may not post any more; 404: the webhook was removed; 410: the Slack channel was archived. */
const GONE = [403, 404, 410];

/** Reads the result from Slack's answer: `ok`, or the name of the error as text. */
export function slackResult(answer: ChatResponse) {
  return chatResultOf('Slack', answer, GONE, errorCode(answer.body.trim()));
}
