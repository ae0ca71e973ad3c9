import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { KeywordDefinitionSchema, WatchSchema, type Watch } from '#contracts';
import { Refusal } from '#kernel';
import { decide } from './keyword.js';
import type { KeywordCommand, DuplicateWatch } from './keyword-command.js';
import { evolve, nothingYet, type KeywordState } from './keyword-state.js';
import { PAUSE_REASONS, type PauseReason } from './pauses.js';
import { reconcile } from './reconcile.js';

const watch = (watchId: string, criteriaHash: string, more = {}) =>
  create(WatchSchema, { watchId, source: 'rss', searchId: 's', criteriaHash, intervalSeconds: 600, ...more });
const duplicate: DuplicateWatch = { watchId: 'w9', keyword: { id: 'k9', name: 'Other' } };
const definition = (name: string) => create(KeywordDefinitionSchema, { name, webhookMode: 'all' });

/** Applies a command to a state. */
function run(state: KeywordState, command: KeywordCommand) {
  const events = decide(command, state);
  return { events: events.map(({ event }) => event), state: events.reduce(evolve, state) };
}
const keyword = (scheduled = true): KeywordState =>
  run(nothingYet, {
    kind: 'create-keyword',
    definition: definition('Acme'),
    watches: [watch('w1', 'a')],
    scheduled,
    creditsRemaining: 10,
  }).state;
const loneWatch = (): KeywordState =>
  run(nothingYet, {
    kind: 'create-watch',
    watch: watch('w1', 'a'),
    webhookUrl: undefined,
    ai: undefined,
    analysis: false,
    duplicate: undefined,
  }).state;
const pause = (reason: PauseReason, creditsNeeded = 0): KeywordCommand => ({
  kind: 'pause',
  reason,
  creditsRemaining: 3,
  creditsNeeded,
});
const resume = (...reasons: PauseReason[]): KeywordCommand => ({
  kind: 'resume',
  reasons,
  creditsRemaining: 7,
});
/** Returns a change of a keyword whose only watch is `w1`: the keyword gets the `planned` searches. */
const change = ({
  planned = [watch('new', 'a')],
  ...more
}: Partial<Extract<KeywordCommand, { kind: 'change-keyword' }>> & { planned?: Watch[] }): KeywordCommand => ({
  kind: 'change-keyword',
  definition: definition('Acme'),
  searches: reconcile(planned, [watch('w1', 'a')]),
  expectedVersion: 1,
  scheduled: true,
  creditsRemaining: 10,
  ...more,
});
function refusal(command: KeywordCommand, state: KeywordState) {
  try {
    return decide(command, state);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [error.kind, error.code];
  }
}

describe.each([
  ['a keyword', keyword, 'keywordPaused', 'keywordResumed'],
  ['a lone watch', loneWatch, 'watchPaused', 'watchResumed'],
] as const)('%s', (_, createSubject, paused, resumed) => {
  it('is paused for the first reason, and runs again when the last reason is removed', () => {
    const first = run(createSubject(), pause('user'));
    expect(first.events).toMatchObject([
      { case: paused, value: { reason: 'user', stopped: true, creditsRemaining: 3 } },
    ]);
    const second = run(first.state, pause('insufficient_credits', 5));
    expect(second.events).toMatchObject([{ case: paused, value: { stopped: false, creditsNeeded: 5 } }]);
    const third = run(second.state, resume('user'));
    expect(third.events).toMatchObject([{ case: resumed, value: { reason: 'user', running: false } }]);
    const fourth = run(third.state, resume('user', 'insufficient_credits'));
    expect(fourth.events).toMatchObject([
      { case: resumed, value: { reason: 'insufficient_credits', running: true, creditsRemaining: 7 } },
    ]);
  });

  it('ignores a second pause for the same reason, and a resume for a reason that does not apply', () => {
    const once = run(createSubject(), pause('plan')).state;
    expect(run(once, pause('plan')).events).toEqual([]);
    expect(run(createSubject(), resume('user', 'plan')).events).toEqual([]);
  });

  it('runs if, and only if, no reason applies, for any order of commands', () => {
    const step = fc.oneof(
      fc.constantFrom(...PAUSE_REASONS).map((reason) => pause(reason, 5)),
      fc.subarray([...PAUSE_REASONS]).map((reasons) => resume(...reasons)),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let state = createSubject();
        const applying = new Set<string>();
        let runs = true;
        for (const command of steps) {
          const next = run(state, command);
          if (command.kind === 'pause') applying.add(command.reason);
          if (command.kind === 'resume') for (const reason of command.reasons) applying.delete(reason);
          for (const event of next.events) {
            if (event.case === paused && event.value.stopped) runs = false;
            if (event.case === resumed && event.value.running) runs = true;
          }
          state = next.state;
          expect(runs).toBe(applying.size === 0);
          expect('pauses' in state && state.pauses.reasons).toEqual(
            PAUSE_REASONS.filter((reason) => applying.has(reason)),
          );
        }
      }),
    );
  });
});

describe('a keyword', () => {
  it('is paused from the start if it is created outside its schedule [keywords.schedule]', () => {
    const { state } = { state: keyword(false) };
    expect(state).toMatchObject({ status: 'keyword', version: 2, pauses: { reasons: ['schedule'] } });
  });

  it('cannot be paused, resumed or changed after it was retired', () => {
    const retired = run(keyword(), { kind: 'retire-keyword' }).state;
    for (const command of [pause('user'), resume('user'), change({})])
      expect(refusal(command, retired)).toEqual(['conflict', 'CONFLICT']);
  });

  it('cannot be paused, resumed or changed if it does not exist', () => {
    for (const command of [pause('user'), resume('user'), change({})])
      expect(refusal(command, nothingYet)).toEqual(['not-found', 'NOT_FOUND']);
  });

  it('can be changed only if the change is based on its latest version', () => {
    expect(refusal(change({ definition: definition('B'), expectedVersion: 7 }), keyword())).toEqual([
      'conflict',
      'STALE_VERSION',
    ]);
  });

  it('stays unchanged if the values are equal, even if prices have changed meanwhile', () => {
    const planned = [watch('new', 'a', { creditsPerCheck: 9, priceBookVersion: 'later' })];
    expect(decide(change({ planned }), keyword())).toEqual([]);
  });

  it('cannot contain the same search twice after a change', () => {
    const planned = [watch('n1', 'a'), watch('n2', 'a', { searchId: 't' })];
    expect(refusal(change({ planned }), keyword())).toEqual(['conflict', 'DUPLICATE_SEARCH']);
  });

  it('reports which watches end and which start over if its search is changed', () => {
    const { events, state } = run(keyword(), change({ planned: [watch('w2', 'b')] }));
    expect(events).toMatchObject([
      {
        case: 'keywordChanged',
        value: {
          retiredWatchIds: ['w1'],
          resets: [{ previousWatchId: 'w1', watchId: 'w2' }],
          resting: false,
        },
      },
    ]);
    expect(state).toMatchObject({ version: 2, everyWatchId: ['w1', 'w2'] });
    expect(run(state, { kind: 'retire-keyword' }).state).toEqual({
      status: 'keyword-retired',
      everyWatchId: ['w1', 'w2'],
    });
  });

  it('reports whether a change replaces its webhook', () => {
    const hooked = (webhookUrl: string, name = 'Acme') =>
      create(KeywordDefinitionSchema, { name, webhookMode: 'all', webhookUrl });
    const named = run(keyword(), change({ definition: hooked('https://example.org/') }));
    const renamed = run(
      named.state,
      change({ definition: hooked('https://example.org/', 'B'), expectedVersion: 2 }),
    );
    expect([named, renamed].map(({ events: [event] }) => event?.value)).toMatchObject([
      { webhookChanged: true },
      { webhookChanged: false },
    ]);
  });

  it('calculates the needed credits again if its searches change while it is paused for lack of credits', () => {
    const broke = run(keyword(), pause('insufficient_credits', 25)).state;
    const to = (creditsPerCheck: number, creditsRemaining: number) =>
      run(
        broke,
        change({
          definition: definition('B'),
          planned: [watch('w2', 'b', { creditsPerCheck })],
          expectedVersion: 2,
          creditsRemaining,
        }),
      );
    expect(to(1, 10).events).toMatchObject([
      { case: 'keywordChanged' },
      { case: 'keywordResumed', value: { reason: 'insufficient_credits', running: true } },
    ]);
    expect(to(15, 10).state).toMatchObject({
      pauses: { reasons: ['insufficient_credits'], creditsNeeded: 15 },
    });
    expect(to(15, 10).events.at(-1)).toMatchObject({ case: 'keywordPaused', value: { stopped: false } });
  });

  it('does not need more credits than before for a watch that continues when another search changes', () => {
    const backfilled = { backfill: true, creditsPerCheck: 1, firstScanCredits: 100 };
    const old = watch('w1', 'a', backfilled);
    const other = watch('w2', 'b', { searchId: 't', creditsPerCheck: 1 });
    const created = run(nothingYet, {
      kind: 'create-keyword',
      definition: definition('Acme'),
      watches: [old, other],
      scheduled: true,
      creditsRemaining: 200,
    }).state;
    const planned = [
      watch('n1', 'a', backfilled),
      watch('n2', 'c', { searchId: 't', creditsPerCheck: 3, firstScanCredits: 3 }),
    ];
    const afterPause = (creditsNeeded: number) =>
      run(
        run(created, pause('insufficient_credits', creditsNeeded)).state,
        change({
          definition: definition('B'),
          searches: reconcile(planned, [old, other]),
          expectedVersion: 2,
          creditsRemaining: 0,
        }),
      ).state;
    // An ordinary check could not be paid: only the new search is more expensive.
    expect(afterPause(1)).toMatchObject({ pauses: { creditsNeeded: 3 } });
    // The first check of the old watch could not be paid.
    expect(afterPause(100)).toMatchObject({ pauses: { creditsNeeded: 100 } });
  });

  it('can contain a search twice after a change if the source is disabled', () => {
    const duplicates = [
      watch('n1', 'b', { searchId: 'x', disabled: true }),
      watch('n2', 'b', { searchId: 'y', disabled: true }),
    ];
    const planned = [watch('new', 'a'), ...duplicates];
    expect(run(keyword(), change({ definition: definition('B'), planned })).state).toMatchObject({
      version: 2,
    });
  });

  it('is paused if its new schedule excludes the present time, and runs again if a later schedule includes that time', () => {
    const paused = run(keyword(), change({ definition: definition('B'), scheduled: false }));
    expect(paused.events.map((event) => event.case)).toEqual(['keywordChanged', 'keywordPaused']);
    const runs = run(paused.state, change({ definition: definition('C'), expectedVersion: 3 }));
    expect(runs.events.map((event) => event.case)).toEqual(['keywordChanged', 'keywordResumed']);
  });
});

describe('resuming a lone watch', () => {
  const resumeWatch = (duplicate?: DuplicateWatch): KeywordCommand => ({
    kind: 'change-watch',
    intervalSeconds: undefined,
    webhookUrl: undefined,
    isActive: true,
    duplicate,
    creditsRemaining: 7,
  });

  it('is possible after a pause for any reason', () => {
    const paused = [pause('user'), pause('plan'), pause('insufficient_credits', 5)].reduce(
      (state, command) => run(state, command).state,
      loneWatch(),
    );
    const { events, state } = run(paused, resumeWatch());
    expect(events).toMatchObject([
      { case: 'watchChanged', value: { isActive: true } },
      { case: 'watchResumed', value: { reason: 'plan', running: false } },
      { case: 'watchResumed', value: { reason: 'insufficient_credits', running: true } },
    ]);
    expect(state).toMatchObject({ pauses: { reasons: [] } });
  });

  it('changes nothing if the watch already runs, even if another watch with the same search runs', () => {
    expect(run(loneWatch(), resumeWatch(duplicate)).events).toEqual([]);
  });

  it('is refused while another watch with the same search runs', () => {
    expect(refusal(resumeWatch(duplicate), run(loneWatch(), pause('plan')).state)).toEqual([
      'conflict',
      'DUPLICATE_SEARCH',
    ]);
  });
});
