import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { ChangeMentionSchema, type ChangeMention } from '#contracts';
import { decide, evolve, UNLABELLED, type LabelState } from './labels.js';

const LABELS = ['to_reply', 'starred', 'flagged', 'hidden'];

const change = (init: Parameters<typeof create<typeof ChangeMentionSchema>>[1]) =>
  create(ChangeMentionSchema, init);
const after = (state: LabelState, command: ChangeMention) => decide(command, state).reduce(evolve, state);

const anyChange = fc
  .record({
    labels: fc.option(fc.subarray(LABELS), { nil: undefined }),
    sentiment: fc.option(fc.constantFrom('', 'positive', 'negative'), { nil: undefined }),
    intent: fc.option(fc.constantFrom('', 'praise', 'other'), { nil: undefined }),
    relevance: fc.option(fc.integer({ min: -1, max: 100 }), { nil: undefined }),
  })
  .map(({ labels, ...more }) => change({ ...(labels ? { labels: { labels } } : {}), ...more }));

describe('decisions about a mention', () => {
  it('store labels, sorted and without duplicates, and corrections', () => {
    const command = change({ labels: { labels: ['starred', 'flagged', 'starred'] }, sentiment: 'positive' });
    expect(after(UNLABELLED, command)).toEqual({
      labels: ['flagged', 'starred'],
      corrections: { sentiment: 'positive' },
    });
  });

  it('keep an empty list of labels, which differs from no decision about labels', () => {
    const decided = after(UNLABELLED, change({ labels: { labels: [] } }));
    expect(decided.labels).toEqual([]);
    expect(after(UNLABELLED, change({ relevance: 1 })).labels).toBeUndefined();
  });

  it('change only the fields that a command names, and remove a correction on request', () => {
    const first = after(
      UNLABELLED,
      change({ labels: { labels: ['hidden'] }, intent: 'praise', relevance: 0 }),
    );
    expect(after(first, change({ intent: '' }))).toEqual({
      labels: ['hidden'],
      corrections: { relevance: 0 },
    });
    expect(after(first, change({ relevance: -1 }))).toEqual({
      labels: ['hidden'],
      corrections: { intent: 'praise' },
    });
  });

  it('change nothing if the mention already has the requested state', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 5 }), anyChange, (earlier, command) => {
        const state = after(earlier.reduce(after, UNLABELLED), command);
        expect(decide(command, state)).toEqual([]);
      }),
    );
  });

  it('repeat the earlier decisions, so that the last decision alone leads to the same state', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 5 }), anyChange, (earlier, command) => {
        const state = earlier.reduce(after, UNLABELLED);
        const events = decide(command, state);
        if (events.length > 0) expect(events.reduce(evolve, UNLABELLED)).toEqual(after(state, command));
      }),
    );
  });

  it('give each key the value of the last command that contained the key', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 8 }), (commands) => {
        const state = commands.reduce(after, UNLABELLED);
        const labels = commands.findLast((command) => command.labels)?.labels?.labels;
        expect(state.labels && [...state.labels].sort()).toEqual(labels && [...new Set(labels)].sort());
        for (const [key, none] of [
          ['sentiment', ''],
          ['intent', ''],
          ['relevance', -1],
        ] as const) {
          const last = commands.findLast((command) => command[key] !== undefined)?.[key];
          expect(state.corrections[key]).toEqual(last === none ? undefined : last);
        }
      }),
    );
  });
});
