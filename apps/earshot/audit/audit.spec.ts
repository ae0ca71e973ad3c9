import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CreditDecisionSchema, type CreditDecision, type CreditMovement } from '#contracts';
import { derivedId } from '#kernel';
import { decide, type ChargeCause, type LedgerCommand } from '../../billing/domain/ledger.js';
import { creditsOf, evolve, noLedger, type LedgerState } from '../../billing/domain/ledger-state.js';
import { audit, type AuditInput, type AuditReport, type Fact, type QuotedWatch } from './audit.js';
import { auditText } from './print-audit.js';

const accountId = derivedId('spec', 'account');
const OPENED = '2026-03-01T00:00:00.000Z';
const NOW = Date.parse('2026-03-03T00:00:00.000Z');
const watchId = derivedId('spec', 'watch');
const keywordId = derivedId('spec', 'keyword');

const cause = (n: number, more: Partial<ChargeCause> = {}): ChargeCause => {
  const checkId = derivedId('spec', 'check', String(n));
  return {
    operation: 'check',
    source: 'reddit',
    keywordId,
    watchId,
    checkId,
    reference: checkId,
    at: `2026-03-01T0${n}:00:00.000Z`,
    costCredits: 2,
    rateCredits: 2,
    units: 1,
    priceBookVersion: '2026-11-20',
    ...more,
  };
};

const factOf = (one: ChargeCause, seq: number): Fact => ({
  stream: 'CHECKS',
  seq,
  source: one.source,
  at: one.at,
  kind: 'check',
  causes: [one],
});

const quote: QuotedWatch = {
  watchId,
  source: 'reddit',
  from: Date.parse(OPENED),
  to: undefined,
  intervalSeconds: 3600,
  creditsPerCheck: 2,
  firstScanCredits: 0,
};

/** What is read of an account on which everything is as it should be: three checks, each charged. */
function healthy(causes = [cause(1), cause(2), cause(3)]): AuditInput {
  let state: LedgerState = noLedger;
  let seq = 10;
  let charged = 0;
  const commands: LedgerCommand[] = [
    { kind: 'open', plan: 'free', at: OPENED },
    ...causes.map((one): LedgerCommand => ({ kind: 'charge', ...one })),
  ];
  const decisions = commands.map((command) => {
    const movements = decide(command, state, { accountId, now: OPENED });
    state = movements.reduce(evolve, state);
    seq += 1;
    for (const { amount, cause: why } of movements) if (why.case === 'charge') charged -= amount;
    return { seq, decision: create(CreditDecisionSchema, { accountId, decidedAt: OPENED, movements }) };
  });
  const balance = balanceOf(state);
  return {
    accountId,
    now: NOW,
    decisions,
    chargedBefore: seq,
    facts: causes.map((one, index) => factOf(one, index + 1)),
    accountFacts: [{ seq: 1, command: { kind: 'open', plan: 'free', at: OPENED } }],
    followed: { CHECKS: 100, EVENTS: 100, LOOKUPS: 100, ACCOUNTS: 100 },
    keptSince: { CHECKS: 0, EVENTS: 0, LOOKUPS: 0 },
    existing: new Set([keywordId]),
    tables: {
      seq,
      balance,
      state,
      movements: decisions.length,
      sumOfMovements: balance,
      sumOfUsage: charged,
    },
    quotes: [quote],
  };
}

function balanceOf(state: LedgerState): number {
  return state.status === 'open' ? creditsOf(state) : 0;
}

const faultsOf = (input: AuditInput) => audit(input).faults;

/** The input with one movement of its stream changed. */
function tampered(input: AuditInput, at: number, change: (movement: CreditMovement) => void): AuditInput {
  const decisions = input.decisions.map(({ seq, decision }, index) => {
    const copy: CreditDecision = structuredClone(decision);
    if (index === at && copy.movements[0]) change(copy.movements[0]);
    return { seq, decision: copy };
  });
  return { ...input, decisions };
}

describe('an audit of an account on which everything is as it should be', () => {
  it('agrees, and tells checks, charges and quote of each source and day', () => {
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
          quoted: 48,
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
      '2026-03-01  reddit       3       0        6    48.0       -42.0          0',
      '2026-03-02  reddit       0       0        0    48.0       -48.0          0',
    ]);
    expect(auditText(report)).toContain(
      '\n4 movements, 3 of them charges; balance 2994\nEverything agrees.\n',
    );
  });

  it('counts a failed check, which is free', () => {
    const input = healthy();
    const failed: Fact = { ...factOf(cause(4), 4), kind: 'failed check', causes: [] };
    const { days, agrees } = audit({ ...input, facts: [...input.facts, failed] });
    expect([agrees, days[0]?.checks, days[0]?.failedChecks]).toEqual([true, 3, 1]);
  });

  it('tells readings of items and lookups apart from checks', () => {
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
});

describe('what an audit finds', () => {
  it('a fact that was never charged; before billing has come to it, it is pending', () => {
    const input = healthy();
    const facts = [...input.facts, factOf(cause(4), 101)];
    expect(audit({ ...input, facts })).toMatchObject({
      agrees: true,
      notes: ['1 facts are not charged yet: billing is behind'],
    });
    const followed = { ...input.followed, CHECKS: 101 };
    expect(faultsOf({ ...input, facts, followed })).toEqual([
      `check ${cause(4).reference} on reddit at 2026-03-01T04:00:00.000Z cost 2 and was never charged`,
    ]);
  });

  it('a charge without a fact; not where the fact is too old to be kept, was purged, or came meanwhile', () => {
    const input = { ...healthy(), facts: healthy().facts.slice(1) };
    const fault = `check ${cause(1).reference} on reddit at 2026-03-01T01:00:00.000Z was charged 2, and there is no such fact`;
    expect(faultsOf(input)).toEqual([fault]);
    expect(audit({ ...input, existing: new Set() })).toMatchObject({
      faults: [],
      notes: ['1 charges are of keywords that were purged: their facts are gone'],
    });
    const keptSince = { ...input.keptSince, CHECKS: Date.parse('2026-03-01T01:30:00.000Z') };
    expect(audit({ ...input, keptSince })).toMatchObject({
      faults: [],
      notes: ['1 charges are of facts older than the streams keep'],
    });
    expect(faultsOf({ ...input, chargedBefore: 11 })).toEqual([]);
  });

  it('a charge that is another than its fact', () => {
    const input = healthy();
    const facts = [factOf(cause(1, { costCredits: 3, units: 3 }), 1), ...input.facts.slice(1)];
    const name = `check ${cause(1).reference} on reddit at 2026-03-01T01:00:00.000Z`;
    expect(faultsOf({ ...input, facts })).toEqual([
      `${name} has costCredits 3, and its charge 2`,
      `${name} has units 3, and its charge 1`,
    ]);
  });

  it('a movement that is there twice', () => {
    const input = healthy();
    const again = { seq: 99, decision: input.decisions[1]?.decision ?? create(CreditDecisionSchema) };
    expect(faultsOf({ ...input, decisions: [...input.decisions, again] })[0]).toMatch(
      /\(charge\) is there twice$/,
    );
  });

  it('an opening or a change of plan that the ledger does not know of', () => {
    const input = healthy();
    const change = { seq: 7, command: { kind: 'change-plan', plan: 'pro', changeId: 'c1' } as const };
    expect(faultsOf({ ...input, accountFacts: [...input.accountFacts, change] })).toEqual([
      'the ledger does not know of "change-plan", message 7 of ACCOUNTS',
    ]);
  });

  it.each<[string, (movement: CreditMovement) => void, RegExp]>([
    ['an amount', (movement) => (movement.amount -= 1), /and 2998 and -3 are 2995$/],
    ['a balance', (movement) => (movement.balanceAfter -= 1), /leaves 2995, and 2998 and -2 are 2996$/],
    [
      'a draw',
      ({ cause: why }) => {
        if (why.case === 'charge' && why.value.draws[0]) why.value.draws[0].credits = 1;
      },
      /leaves 2996, and allowance and packs come to 2997$/,
    ],
  ])('%s that does not follow', (_, change, fault) => {
    expect(faultsOf(tampered(healthy(), 2, change)).some((found) => fault.test(found))).toBe(true);
  });

  it('a charge that took less than it cost although there were credits', () => {
    const input = tampered(healthy(), 3, ({ cause: why }) => {
      if (why.case === 'charge') why.value.costCredits = 5;
    });
    expect(faultsOf(input).some((fault) => /takes 2 for what cost 5, and leaves 2994$/.test(fault))).toBe(
      true,
    );
  });

  it('tells what the balance did not cover', () => {
    const input = { ...healthy([cause(1, { costCredits: 3_010 })]), quotes: [] };
    expect(audit(input)).toMatchObject({
      faults: [],
      notes: ['10 credits were not covered by the balance and never charged'],
    });
  });

  it('tables that say something else than the stream', () => {
    const input = healthy();
    const { tables } = input;
    if (!tables) throw new Error('no tables');
    const faults = faultsOf({
      ...input,
      tables: { ...tables, balance: 2995, movements: 3, sumOfMovements: 2993, sumOfUsage: 7 },
    });
    expect(faults).toEqual([
      'the balance in the tables is 2995, and by the stream 2994',
      'the number of movements in the tables is 3, and by the stream 4',
      'the sum of the movements in the tables is 2993, and by the stream 2994',
      'the sum of what the tables say was used is 7, and by the stream 6',
    ]);
    expect(faultsOf({ ...input, tables: undefined })).toEqual(['the tables know nothing of the account']);
    expect(faultsOf({ ...input, tables: { ...tables, seq: 5 } })).toEqual([
      "the tables are at message 5, which is not in the account's stream",
    ]);
  });

  it('tables that are behind are compared as of where they are', () => {
    const input = healthy();
    const before = healthy([cause(1), cause(2)]);
    expect(audit({ ...input, tables: before.tables })).toMatchObject({
      faults: [],
      notes: ['the tables are at message 13 of 14: they were compared as of then'],
    });
  });

  it('more than was quoted, on a day and over the whole time; checks at the edges are no excess', () => {
    const short = {
      ...quote,
      from: Date.parse('2026-03-01T01:00:00.000Z'),
      to: Date.parse('2026-03-01T01:30:00.000Z'),
    };
    expect(faultsOf({ ...healthy(), quotes: [short] })).toEqual([]);
    const five = healthy([1, 2, 3, 4, 5].map((n) => cause(n)));
    expect(faultsOf({ ...five, quotes: [short] })).toEqual([
      'reddit on 2026-03-01: checks were charged 10, and quoted at 1.0 at the most',
      'reddit over the whole time: checks were charged 10, and quoted at 1.0 at the most',
    ]);
    expect(faultsOf({ ...five, quotes: [{ ...short, firstScanCredits: 3 }] })).toEqual([]);
  });

  it('what was charged to a watch without a quote is told, and compared with none', () => {
    const report = audit({ ...healthy(), quotes: [] });
    expect([report.agrees, report.days[0]?.chargedUnquoted]).toEqual([true, 6]);
    expect(auditText(report)).toContain('note: 6 credits were charged to watches without a quote on record');
  });
});
