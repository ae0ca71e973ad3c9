import { create } from '@bufbuild/protobuf';
import { CreditDecisionSchema, type CreditDecision, type CreditMovement } from '#contracts';
import { derivedId } from '#kernel';
import type { QuotedPeriod } from '#quotes';
import { decide, type ChargeCause, type LedgerCommand } from '../../../billing/domain/ledger.js';
import { creditsOf, evolve, noLedger, type LedgerState } from '../../../billing/domain/ledger-state.js';
import { audit } from '../audit.js';
import type { AuditInput, Fact } from '../audit-input.js';

// For specs only: generated inputs of audits.

/** The audited account. */
export const accountId = derivedId('spec', 'account');
/** The time at which the account was opened. */
export const OPENED = '2026-03-01T00:00:00.000Z';
const NOW = Date.parse('2026-03-03T00:00:00.000Z');
/** The only watch of the account. */
export const watchId = derivedId('spec', 'watch');
const keywordId = derivedId('spec', 'keyword');

/** Returns the cause of a charge for check number `n`. */
export const cause = (n: number, more: Partial<ChargeCause> = {}): ChargeCause => {
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

/** Returns a check that causes one charge. */
export const factOf = (one: ChargeCause, seq: number): Fact => ({
  stream: 'CHECKS',
  seq,
  source: one.source,
  at: one.at,
  kind: 'check',
  causes: [one],
});

/** The quote of the watch. */
export const quote: QuotedPeriod = {
  watchId,
  source: 'reddit',
  from: Date.parse(OPENED),
  to: undefined,
  previousTo: undefined,
  intervalSeconds: 3600,
  creditsPerCheck: 2,
  firstScanCredits: 0,
};

/** Returns the input of a correct account: three checks, each charged. */
export function healthy(causes = [cause(1), cause(2), cause(3)]): AuditInput {
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
    followed: { CHECKS: 100, EVENTS: 100, LOOKUPS: 100, EXPLORES: 100, ACCOUNTS: 100 },
    keptSince: { CHECKS: 0, EVENTS: 0, LOOKUPS: 0, EXPLORES: 0 },
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

/** Returns the faults that an audit of the input finds. */
export const faultsOf = (input: AuditInput) => audit(input).faults;

/** Returns the input with one movement of its stream changed. */
export function tampered(
  input: AuditInput,
  at: number,
  change: (movement: CreditMovement) => void,
): AuditInput {
  const decisions = input.decisions.map(({ seq, decision }, index) => {
    const copy: CreditDecision = structuredClone(decision);
    if (index === at && copy.movements[0]) change(copy.movements[0]);
    return { seq, decision: copy };
  });
  return { ...input, decisions };
}

/** A command, and the time at which it is executed. */
export type Step = [string, LedgerCommand];

/** Returns the input of an audit: a ledger whose movements `forge` can change, and whose stream and tables agree. */
export function ledgerOf(
  steps: readonly Step[],
  forge: (movements: CreditMovement[], n: number) => CreditMovement[] = (movements) => movements,
): AuditInput {
  let state: LedgerState = noLedger;
  const decisions = steps.map(([decidedAt, command], n) => {
    const movements = forge(decide(command, state, { accountId, now: decidedAt }), n);
    state = movements.reduce(evolve, state);
    return { seq: n + 1, decision: create(CreditDecisionSchema, { accountId, decidedAt, movements }) };
  });
  const base = healthy([]);
  const movements = decisions.flatMap(({ decision }) => decision.movements);
  const charged = movements.reduce((sum, one) => (one.cause.case === 'charge' ? sum - one.amount : sum), 0);
  const balance = balanceOf(state);
  return {
    ...base,
    decisions,
    chargedBefore: decisions.length,
    quotes: [],
    tables: {
      seq: decisions.length,
      balance,
      state,
      movements: movements.length,
      sumOfMovements: balance,
      sumOfUsage: charged,
    },
  };
}
