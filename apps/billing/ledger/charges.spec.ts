import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { CheckSchema, EventSchema, LookupSchema } from '#contracts';
import { chargesOf } from './charges.js';

const AT = '2026-03-04T05:06:07.089Z';
const check = (more: MessageInitShape<typeof CheckSchema> = {}) =>
  chargesOf(
    'CHECKS',
    toBinary(
      CheckSchema,
      create(CheckSchema, {
        checkId: 'check',
        accountId: 'account',
        watchId: 'watch',
        keywordId: 'keyword',
        source: 'ai_answers',
        finishedAt: AT,
        part: 1,
        parts: 1,
        costCredits: 21,
        rateCredits: 7,
        units: 3,
        priceBookVersion: '2026-11-20',
        items: [{ item: { itemId: 'i' } }],
        ...more,
      }),
    ),
  );

describe('the charge of a check', () => {
  it('contains the rate, the units and the version of the price book', () => {
    expect(check()).toEqual({
      accountId: 'account',
      causes: [
        {
          operation: 'check',
          source: 'ai_answers',
          keywordId: 'keyword',
          watchId: 'watch',
          checkId: 'check',
          reference: 'check',
          at: AT,
          costCredits: 21,
          rateCredits: 7,
          units: 3,
          priceBookVersion: '2026-11-20',
        },
      ],
    });
  });

  it('has the operation `first_scan` for a first check whose price depends on the returned items', () => {
    expect(check({ firstScan: true }).causes).toMatchObject([{ operation: 'first_scan' }]);
  });

  it('can be in any part of a check that is split into several messages', () => {
    for (const part of [1, 2, 3])
      expect(check({ part, parts: 3 }).causes).toMatchObject([{ costCredits: 21 }]);
  });

  it.each<[string, MessageInitShape<typeof CheckSchema>]>([
    ['check that failed', { failure: { kind: 'timeout' } }],
    ['part of a large check that does not contain the price', { part: 1, parts: 2, costCredits: 0 }],
    ['check from before charging began', { rateCredits: 0, units: 0, priceBookVersion: '' }],
    ['check whose price is 0', { costCredits: 0 }],
  ])('does not exist for a %s', (_, more) => expect(check(more).causes).toEqual([]));
});

it('an event has one charge for each reading or agent step that costs credits', () => {
  const event = create(EventSchema, {
    eventId: 'event',
    accountId: 'account',
    watchId: 'watch',
    checkId: 'check',
    source: 'reddit',
    occurredAt: AT,
    charges: [
      { operation: 'analysis', costCredits: 1, priceBookVersion: 'v' },
      { operation: 'bucket', costCredits: 0, priceBookVersion: 'v' },
      { operation: 'agent_step', costCredits: 2, priceBookVersion: 'v' },
    ],
  });
  const common = { keywordId: '', watchId: 'watch', checkId: 'check', reference: 'event', at: AT, units: 1 };
  expect(chargesOf('EVENTS', toBinary(EventSchema, event)).causes).toEqual(
    [
      { operation: 'analysis', part: 'analysis', costCredits: 1, rateCredits: 1 },
      { operation: 'agent_step', part: 'agent_step', costCredits: 2, rateCredits: 2 },
    ].map((one) => ({ ...common, ...one, source: 'reddit', priceBookVersion: 'v' })),
  );
});

it('a lookup has one charge, without a watch; a lookup from the time before charges is free', () => {
  const lookup = create(LookupSchema, {
    lookupId: 'lookup',
    accountId: 'account',
    source: 'x',
    operation: 'tweets',
    at: AT,
    found: 4,
    costCredits: 5,
    priceBookVersion: 'v',
    billed: true,
  });
  const free = toBinary(LookupSchema, { ...lookup, billed: false });
  expect(chargesOf('LOOKUPS', free)).toEqual({ accountId: 'account', causes: [] });
  expect(chargesOf('LOOKUPS', toBinary(LookupSchema, lookup)).causes).toEqual([
    {
      operation: 'x.tweets',
      source: 'x',
      keywordId: '',
      watchId: '',
      checkId: '',
      reference: 'lookup',
      at: AT,
      costCredits: 5,
      rateCredits: 5,
      units: 1,
      priceBookVersion: 'v',
    },
  ]);
});
