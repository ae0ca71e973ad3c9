import fc from 'fast-check';
import { Refusal } from '#kernel';
import {
  decide,
  evolve,
  hasEnded,
  NO_REPLAY,
  OPEN_REPLAYS,
  type ReplayCommand,
  type ReplayEnd,
  type ReplayRequest,
  type ReplayState,
} from './replay.js';

const request: ReplayRequest = {
  keywordId: 'k1',
  watchId: '',
  since: '2026-03-01T00:00:00.000Z',
  until: '2026-03-02T00:00:00.000Z',
  url: 'https://example.org/hook',
  types: [],
  ratePerSecond: 50,
  upToSequence: 7,
};
const ask = (more: Partial<ReplayRequest> = {}, open = 0): ReplayCommand => ({
  kind: 'request',
  request: { ...request, ...more },
  open,
});
const end = (status: ReplayEnd, sent = 0): ReplayCommand => ({
  kind: 'end',
  status,
  message: '',
  counts: { sent, failed: 0, missing: 0 },
});
const after = (...commands: ReplayCommand[]): ReplayState =>
  commands.reduce((state, command) => decide(command, state).reduce(evolve, state), NO_REPLAY);
const refusalOf = (command: ReplayCommand, state = NO_REPLAY): Refusal => {
  try {
    decide(command, state);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('it was not refused');
};

describe('a replay', () => {
  it('is queued, then running, then done', () => {
    expect(after(ask())).toEqual({ status: 'queued' });
    expect(after(ask(), { kind: 'start', matched: 3 })).toEqual({ status: 'running', matched: 3 });
    expect(after(ask(), { kind: 'start', matched: 3 }, end('done', 3))).toEqual({
      status: 'done',
      counts: { sent: 3, failed: 0, missing: 0 },
    });
  });

  it.each<[string, Partial<ReplayRequest>, string]>([
    ['neither keyword nor watch', { keywordId: '' }, 'keyword_id'],
    ['both keyword and watch', { watchId: 'w1' }, 'keyword_id'],
    ['an empty window', { until: request.since }, 'since'],
  ])('is refused with %s', (_, more, path) => {
    const { kind, details } = refusalOf(ask(more));
    expect([kind, details?.map((fault) => fault.path)]).toEqual(['invalid', [path]]);
  });

  it('is refused if the account has too many open replays, or if the replay already exists', () => {
    expect(refusalOf(ask({}, OPEN_REPLAYS)).kind).toBe('conflict');
    expect(decide(ask({}, OPEN_REPLAYS - 1), NO_REPLAY)).toHaveLength(1);
    expect(refusalOf(ask(), after(ask())).kind).toBe('conflict');
  });

  it('cannot be started or ended if it does not exist', () => {
    expect(refusalOf({ kind: 'start', matched: 1 }).kind).toBe('not-found');
    expect(refusalOf(end('cancelled')).kind).toBe('not-found');
  });

  it('starts at most once and ends at most once, for every order of commands', () => {
    const command = fc.oneof(
      fc.nat().map((matched): ReplayCommand => ({ kind: 'start', matched })),
      fc
        .tuple(fc.constantFrom<ReplayEnd[]>('done', 'failed', 'cancelled'), fc.nat())
        .map(([status, sent]) => end(status, sent)),
    );
    fc.assert(
      fc.property(fc.array(command), (commands) => {
        let state = after(ask());
        const kinds: unknown[] = [];
        for (const one of commands) {
          const ended = hasEnded(state);
          const events = decide(one, state);
          if (ended) expect(events).toEqual([]);
          kinds.push(...events.map(({ event }) => event.case));
          state = events.reduce(evolve, state);
        }
        expect(kinds.filter((kind) => kind === 'ended').length).toBe(hasEnded(state) ? 1 : 0);
        expect(kinds.filter((kind) => kind === 'started').length).toBeLessThanOrEqual(1);
        const firstEnd = commands.find(({ kind }) => kind === 'end');
        if (firstEnd?.kind === 'end')
          expect(state).toEqual({ status: firstEnd.status, counts: firstEnd.counts });
      }),
    );
  });
});
