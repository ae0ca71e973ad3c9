import { create } from '@bufbuild/protobuf';
import { CreditDecisionSchema, type CreditMovement } from '#contracts';
import { chargeIdOf, derivedId } from '#kernel';
import { audit, type AuditReport } from './audit.js';
import type { Fact } from './audit-input.js';
import {
  accountId,
  cause,
  factOf,
  faultsOf,
  healthy,
  OPENED,
  quote,
  tampered,
  watchId,
} from './testing/audit-under-test.js';
import { auditText } from './print-audit.js';

describe('the audit of a correct account', () => {
  it('agrees, and reports checks, charges and quote for each source and day', () => {
    const report = audit(healthy());
    expect(report).toEqual<AuditReport>({
      accountId,
      agrees: true,
      faults: [],
      notes: [],
      balance: 2994,
      movements: 4,
      charges: 3,
      days: [
        {
          source: 'reddit',
          date: '2026-03-01',
          checks: 3,
          failedChecks: 0,
          charged: 6,
          chargedOtherwise: 0,
          chargedUnquoted: 0,
          quoted: 50,
        },
        {
          source: 'reddit',
          date: '2026-03-02',
          checks: 0,
          failedChecks: 0,
          charged: 0,
          chargedOtherwise: 0,
          chargedUnquoted: 0,
          quoted: 48,
        },
      ],
    });
    expect(auditText(report).split('\n').slice(0, 3)).toEqual([
      'day         source  checks  failed  charged  quoted  difference  otherwise',
      '2026-03-01  reddit       3       0        6    50.0       -44.0          0',
      '2026-03-02  reddit       0       0        0    48.0       -48.0          0',
    ]);
    expect(auditText(report)).toContain(
      '\n4 movements, 3 of them charges; balance 2994\nEverything agrees.\n',
    );
  });

  it('writes “1 movement” and “1 difference” in the singular', () => {
    const report = audit(healthy([]));
    const faulty = { ...report, agrees: false, faults: ['the balance is wrong'] };
    expect(auditText(report)).toContain('\n1 movement, 0 of them charges; ');
    expect(auditText(faulty)).toContain('\nFound 1 difference.\n');
  });

  it('counts a failed check as free', () => {
    const input = healthy();
    const failed: Fact = { ...factOf(cause(4), 4), kind: 'failed check', causes: [] };
    const { days, agrees } = audit({ ...input, facts: [...input.facts, failed] });
    expect([agrees, days[0]?.checks, days[0]?.failedChecks]).toEqual([true, 3, 1]);
  });

  it('separates readings of items from checks', () => {
    const reading = cause(4, {
      operation: 'analysis',
      reference: derivedId('spec', 'event'),
      part: 'analysis',
    });
    const input = healthy([cause(1), reading]);
    const facts = input.facts.map((fact, n): Fact =>
      n === 1 ? { ...fact, stream: 'EVENTS', kind: 'other' } : fact,
    );
    const { agrees, days } = audit({ ...input, facts });
    expect([agrees, days[0]?.charged, days[0]?.chargedOtherwise]).toEqual([true, 2, 2]);
  });

  it('compares the charges for brands in answers of AI engines with the quote, which includes these brands', () => {
    const brands = cause(2, {
      ...{ operation: 'co_brands', reference: derivedId('spec', 'answer'), part: 'co_brands' },
    });
    const input = healthy([cause(1), brands]);
    const facts = input.facts.map((fact, n): Fact =>
      n === 1 ? { ...fact, stream: 'EVENTS', kind: 'other' } : fact,
    );
    const { agrees, days } = audit({ ...input, facts });
    expect([agrees, days[0]?.charged, days[0]?.chargedOtherwise]).toEqual([true, 4, 0]);
    const short = { ...quote, from: Date.parse(OPENED), to: Date.parse(OPENED) + 1_800_000 };
    expect(faultsOf({ ...input, facts, quotes: [{ ...short, creditsPerCheck: 1 }] })).not.toEqual([]);
  });
});

describe('the audit of a faulty account', () => {
  it('finds a fact that was never charged, but only notes that billing is behind if billing has not read the fact yet', () => {
    const input = healthy();
    const facts = [...input.facts, factOf(cause(4), 101)];
    expect(audit({ ...input, facts })).toMatchObject({
      agrees: true,
      notes: ['facts that are not charged yet, because billing is behind: 1'],
    });
    const followed = { ...input.followed, CHECKS: 101 };
    expect(faultsOf({ ...input, facts, followed })).toEqual([
      `check ${cause(4).reference} on reddit at 2026-03-01T04:00:00.000Z cost 2 and was never charged`,
    ]);
  });

  it('finds a charge without a fact, unless the fact is too old or purged, or the charge was stored during the audit', () => {
    const input = { ...healthy(), facts: healthy().facts.slice(1) };
    const fault = `check ${cause(1).reference} on reddit at 2026-03-01T01:00:00.000Z was charged 2, but there is no such fact`;
    expect(faultsOf(input)).toEqual([fault]);
    expect(audit({ ...input, existing: new Set() })).toMatchObject({
      faults: [],
      notes: ['charges of purged keywords, whose facts were deleted: 1'],
    });
    const keptSince = { ...input.keptSince, CHECKS: Date.parse('2026-03-01T01:30:00.000Z') };
    expect(audit({ ...input, keptSince })).toMatchObject({
      faults: [],
      notes: ['charges of facts that the streams no longer keep: 1'],
    });
    expect(faultsOf({ ...input, chargedBefore: 11 })).toEqual([]);
  });

  it('finds a charge that differs from its fact, and uses the first of two versions of a fact', () => {
    const input = healthy();
    const another = factOf(cause(1, { costCredits: 3, units: 3 }), 1);
    const facts = [another, ...input.facts.slice(1)];
    const name = `movement ${chargeIdOf(cause(1).reference)} (charge)`;
    expect(faultsOf({ ...input, facts })).toEqual([
      `${name} has amount -2, but should have -3`,
      `${name} has balanceAfter 2998, but should have 2997`,
      `${name} has costCredits 2, but should have 3`,
      `${name} has units 1, but should have 3`,
      `${name} has draws [{"packId":"","credits":2}], but should have [{"packId":"","credits":3}]`,
    ]);
    expect(faultsOf({ ...input, facts: [...input.facts, { ...another, seq: 9 }] })).toEqual([]);
  });

  it('finds a movement that exists twice', () => {
    const input = healthy();
    const again = { seq: 99, decision: input.decisions[1]?.decision ?? create(CreditDecisionSchema) };
    expect(faultsOf({ ...input, decisions: [...input.decisions, again] })[0]).toMatch(
      /\(charge\) exists twice$/,
    );
  });

  it('finds a change of plan that is missing in the ledger', () => {
    const input = healthy();
    const change = { seq: 7, command: { kind: 'change-plan', plan: 'pro', changeId: 'c1' } as const };
    expect(faultsOf({ ...input, accountFacts: [...input.accountFacts, change] })).toEqual([
      'the ledger has no movement for "change-plan" (message 7 of ACCOUNTS)',
    ]);
  });

  it.each<[string, (movement: CreditMovement) => void, string]>([
    ['an amount', (movement) => (movement.amount -= 1), 'has amount -3, but should have -2'],
    ['a balance', (movement) => (movement.balanceAfter -= 1), 'has balanceAfter 2995, but should have 2996'],
    ['an id', (movement) => (movement.movementId = watchId), `has movementId "${watchId}", but should have`],
    [
      'a draw',
      ({ cause: why }) => {
        if (why.case === 'charge' && why.value.draws[0]) why.value.draws[0].credits = 1;
      },
      'has draws [{"packId":"","credits":1}], but should have [{"packId":"","credits":2}]',
    ],
  ])('finds %s that no cause explains, and reports no fault of a later movement', (_, change, fault) => {
    const own = faultsOf(tampered(healthy(), 2, change)).filter((found) => found.startsWith('movement'));
    expect(own).toEqual([expect.stringContaining(fault)]);
  });

  it('finds the part of a charge that the balance did not cover', () => {
    const input = { ...healthy([cause(1, { costCredits: 3_010 })]), quotes: [] };
    expect(faultsOf(input)).toEqual([
      `movement ${chargeIdOf(cause(1).reference)} (charge) took 3000 for a cost of 3010: the balance did not cover the rest`,
    ]);
  });

  it('finds tables that differ from the stream', () => {
    const input = healthy();
    const { tables } = input;
    if (!tables) throw new Error('no tables');
    const faults = faultsOf({
      ...input,
      tables: { ...tables, balance: 2995, movements: 3, sumOfMovements: 2993, sumOfUsage: 7 },
    });
    expect(faults).toEqual([
      'the balance in the tables is 2995, but 2994 according to the stream',
      'the number of movements in the tables is 3, but 4 according to the stream',
      'the sum of the movements in the tables is 2993, but 2994 according to the stream',
      'the sum of the usage in the tables is 7, but 6 according to the stream',
    ]);
    expect(faultsOf({ ...input, tables: undefined })).toEqual(['the tables do not contain the account']);
    expect(faultsOf({ ...input, tables: { ...tables, seq: 5 } })).toEqual([
      "the tables are at message 5, which is not in the account's stream",
    ]);
  });

  it('compares tables that are behind the stream with the stream up to the same message', () => {
    const input = healthy();
    const before = healthy([cause(1), cause(2)]);
    expect(audit({ ...input, tables: before.tables })).toMatchObject({
      faults: [],
      notes: ['the tables are at message 13 of 14: they were compared at that position'],
    });
  });

  it('finds a watch that was charged more than its quote, and allows one additional check in a quoted period', () => {
    const short = {
      ...quote,
      from: Date.parse('2026-03-01T01:00:00.000Z'),
      to: Date.parse('2026-03-01T01:30:00.000Z'),
    };
    expect(faultsOf({ ...healthy([cause(1), cause(2)]), quotes: [short] })).toEqual([]);
    expect(faultsOf({ ...healthy(), quotes: [short] })).toEqual([
      `watch ${watchId} on reddit on 2026-03-01: checks were charged 6, but quoted at 3.0 at most`,
      `watch ${watchId} on reddit over the whole time: checks were charged 6, but quoted at 3.0 at most`,
    ]);
    expect(faultsOf({ ...healthy(), quotes: [{ ...short, firstScanCredits: 3 }] })).toEqual([]);
  });

  it('finds a watch that was charged twice its quote, although another watch was charged less than its quote', () => {
    const daily = { ...quote, intervalSeconds: 86_400 };
    const days = [1, 2, 3, 4, 5].flatMap((day) =>
      [3, 9].map((hour) => cause(day * 10 + hour, { at: `2026-03-0${day}T0${hour}:00:00.000Z` })),
    );
    const idle = { ...quote, watchId: derivedId('spec', 'idle') };
    const input = { ...healthy(days), now: Date.parse('2026-03-06T00:00:00.000Z') };
    expect(faultsOf({ ...input, quotes: [daily, idle] })).toEqual([
      `watch ${watchId} on reddit over the whole time: checks were charged 20, but quoted at 12.0 at most`,
    ]);
  });

  it('finds a watch that was charged several times its quote while its user paused, resumed and changed it', () => {
    const begin = Date.parse(OPENED);
    const minutes = (n: number) => begin + n * 60_000;
    const quotes = Array.from({ length: 10 }, (_, n) => ({
      ...quote,
      intervalSeconds: 86_400,
      from: minutes(n),
      to: minutes(n + 1),
      previousTo: n === 0 ? undefined : minutes(n),
    }));
    const input = { ...healthy([cause(1)]), quotes, now: minutes(15) };
    expect(faultsOf(input)).toEqual([]);
    const causes = [1, 2, 3, 4, 5].map((n) => cause(n));
    expect(faultsOf({ ...healthy(causes), quotes, now: minutes(15) })).toEqual([
      `watch ${watchId} on reddit on 2026-03-01: checks were charged 10, but quoted at 2.0 at most`,
      `watch ${watchId} on reddit over the whole time: checks were charged 10, but quoted at 2.0 at most`,
    ]);
  });

  it('allows one check by the previous interval and one by the new interval when the interval changes', () => {
    const changedAt = Date.parse('2026-03-01T03:30:00.000Z');
    const quotes = [
      { ...quote, to: changedAt },
      { ...quote, from: changedAt, previousTo: changedAt, intervalSeconds: 86_400 },
    ];
    const charged = (checks: number) => ({
      ...healthy(Array.from({ length: checks }, (_, n) => cause(n + 1))),
      quotes,
      now: Date.parse('2026-03-01T05:00:00.000Z'),
    });
    // At 00:00, 00:01, 01:01, 02:01, 03:01 and 04:01; the next tick of the new interval can follow at once.
    expect(faultsOf(charged(7))).toEqual([]);
    expect(faultsOf(charged(8))).not.toEqual([]);
  });

  it('allows a late check and one at a tick on a day on which a watch ran for less than its interval', () => {
    const at = (time: string) => Date.parse(`2026-03-0${time}:00:00.000Z`);
    const daily = { ...quote, intervalSeconds: 86_400 };
    const quotes = [
      { ...daily, to: at('1T22') },
      { ...daily, from: at('2T02'), to: at('2T04'), previousTo: at('1T22') },
    ];
    const on = (n: number) => cause(n, { at: '2026-03-02T03:00:00.000Z' });
    const charged = (causes: ReturnType<typeof cause>[]) => ({ ...healthy(causes), quotes, now: at('3T00') });
    expect(faultsOf(charged([on(1), on(2)]))).toEqual([]);
    expect(faultsOf(charged([on(1), on(2), on(3)]))).not.toEqual([]);
  });

  it('reports charges of a watch without a quote, but finds no fault in them', () => {
    const report = audit({ ...healthy(), quotes: [] });
    expect([report.agrees, report.days[0]?.chargedUnquoted]).toEqual([true, 6]);
    expect(auditText(report)).toContain('note: watches without a stored quote were charged 6 credits');
  });
});
