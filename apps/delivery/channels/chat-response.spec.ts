import type { ChatResponse, ChatResult } from './chat-response.js';
import { discordResult } from './discord/discord.js';
import { slackResult } from './slack/slack.js';
import { teamsResult } from './teams/teams.js';
import { telegramResult } from './telegram/telegram.js';

type Read = (answer: ChatResponse) => ChatResult;

const wait = (read: Read, status: number, body: unknown, headers: Record<string, string> = {}) =>
  read({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }).retryAfterMs;
const discord = { message: 'You are being rate limited.', retry_after: 1.25 };
const telegram = { ok: false, description: 'Flood control exceeded', parameters: { retry_after: 7 } };

describe('the wait that a chat service states', () => {
  it.each([429, 500, 503])(
    'is read from the body of a %i, even if the header states another wait [channels.retry-after]',
    (status) => {
      expect(wait(discordResult, status, discord)).toBe(1250);
      expect(wait(telegramResult, status, telegram)).toBe(7000);
      expect(wait(telegramResult, status, telegram, { 'retry-after': '60' })).toBe(7000);
    },
  );

  it('is read from the body of a Telegram answer that has the status 200 but refuses the message', () => {
    const answer = { status: 200, headers: {}, body: JSON.stringify(telegram) };
    expect(telegramResult(answer)).toMatchObject({ delivered: false, retryAfterMs: 7000 });
  });

  it('is not read from the body of an answer to a delivered message, because this body is the message', () => {
    expect(wait(discordResult, 200, { id: '1', retry_after: 5 })).toBeUndefined();
    expect(wait(telegramResult, 200, { ...telegram, ok: true })).toBeUndefined();
  });

  it.each([301, 400, 403, 404])('is ignored for a %i, because this status is permanent', (status) => {
    expect(wait(discordResult, status, discord)).toBeUndefined();
    expect(wait(telegramResult, status, telegram, { 'retry-after': '60' })).toBeUndefined();
  });

  it('is between a second and a day, and is absent if the body states no number or a negative number', () => {
    expect(wait(discordResult, 500, { retry_after: 1e9 })).toBe(86_400_000);
    for (const retryAfter of [0, 1e-9])
      expect(wait(discordResult, 429, { retry_after: retryAfter })).toBe(1000);
    expect(wait(slackResult, 429, '{}', { 'retry-after': '0' })).toBe(1000);
    for (const retryAfter of [-1, '5', null, undefined])
      expect(wait(discordResult, 500, { retry_after: retryAfter })).toBeUndefined();
    expect(wait(telegramResult, 500, '<html>')).toBeUndefined();
  });

  it.each([slackResult, teamsResult, discordResult, telegramResult])(
    'is read from the header of a 429, a 503 or a success, or is 30 s after a 429 without the header',
    (read) => {
      const header = { 'retry-after': '3' };
      expect([429, 503, 200, 500].map((status) => wait(read, status, '{}', header))).toEqual([
        ...[3000, 3000, 3000],
        undefined,
      ]);
      expect([429, 503, 200, 500].map((status) => wait(read, status, '{}'))).toEqual([
        ...[30_000, undefined, undefined],
        undefined,
      ]);
    },
  );
});
