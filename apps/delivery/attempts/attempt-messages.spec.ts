import { attemptsIn } from '#contracts';
import { isoOf, newId } from '#kernel';
import { attemptMessages, type Recorded } from './attempt-messages.js';
import type { Addressed } from './delivery.js';

const accountId = newId();

/** Returns a successful first attempt of a new event of the watch. */
const attempted = (watchId: string): Recorded<Addressed> => ({
  delivery: {
    eventId: newId(),
    accountId,
    watchId,
    keywordId: '',
    source: 'rss',
    endpoint: 'https://example.org/hook?token=1',
    target: { kind: 'webhook', id: newId() },
    firstAt: 1_700_000_000_000,
    pending: false,
  },
  at: 1_700_000_000_000,
  durationMs: 12,
  statusCode: 200,
  delivered: true,
  message: '',
  nextAt: undefined,
});
const messagesOf = (recorded: readonly Recorded<Addressed>[]) => attemptMessages(recorded, () => 1);

describe('the messages of ATTEMPTS', () => {
  it('group the attempts of each watch in order, and give each attempt its own id', () => {
    const [one, other] = [newId(), newId()];
    const recorded = [one, other, one, one].map(attempted);
    const messages = messagesOf(recorded);
    expect(messages.map(({ subject }) => subject)).toEqual([
      `attempts.${accountId}.${one}`,
      `attempts.${accountId}.${other}`,
    ]);
    const attempts = messages.map(({ data }) => attemptsIn(data));
    const eventIds = attempts.map((group) => group.map(({ eventId }) => eventId));
    const of = (...places: number[]) => places.map((n) => recorded[n]?.delivery.eventId);
    expect(eventIds).toEqual([of(0, 2, 3), of(1)]);
    expect(new Set(attempts.flat().map(({ attemptId }) => attemptId)).size).toBe(4);
    expect(
      attempts.flat().every(({ watchId, endpoint }) => watchId && endpoint === 'https://example.org/hook'),
    ).toBe(true);
  });

  it('have the same id for the same attempts, and another id for other attempts or another order', () => {
    const watchId = newId();
    const recorded = Array.from({ length: 3 }, () => attempted(watchId));
    const idOf = (some: readonly Recorded<Addressed>[]) => messagesOf(some)[0]?.msgId;
    expect(idOf(recorded)).toBe(idOf([...recorded]));
    const ids = [recorded, recorded.slice(0, 2), recorded.slice(0, 1), [...recorded].reverse()].map(idOf);
    expect(new Set(ids).size).toBe(4);
  });

  it('have the format and the id of the attempt if they contain only one attempt, as in earlier releases', () => {
    const [message] = messagesOf([attempted(newId())]);
    const [attempt] = attemptsIn(message?.data ?? new Uint8Array());
    expect(message?.msgId).toBe(attempt?.attemptId);
    expect(attempt?.attempts).toEqual([]);
  });

  it('contain at most 50 attempts each, and together all attempts', () => {
    const watchId = newId();
    const recorded = Array.from({ length: 120 }, () => attempted(watchId));
    const groups = messagesOf(recorded).map(({ data }) => attemptsIn(data));
    expect(groups.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(groups.flat().map(({ eventId }) => eventId)).toEqual(
      recorded.map(({ delivery }) => delivery.eventId),
    );
  });

  it('state when the delivery was created, except for a first attempt that is made immediately', () => {
    const immediate = attempted(newId());
    const waiting: Recorded<Addressed> = {
      ...immediate,
      delivery: { ...immediate.delivery, pending: true, firstAt: immediate.at - 60_000 },
    };
    const firstAtOf = (one: Recorded<Addressed>) =>
      messagesOf([one]).flatMap(({ data }) => attemptsIn(data).map(({ firstAt }) => firstAt))[0];
    expect([immediate, waiting].map(firstAtOf)).toEqual(['', isoOf(waiting.delivery.firstAt)]);
  });
});
