import type { CreditDecision } from '#contracts';
import type { QuotedPeriod } from '#quotes';
import type { ChargeCause, LedgerCommand } from '../../billing/domain/ledger.js';
import type { LedgerState } from '../../billing/domain/ledger-state.js';
import type { ChargedStream } from '../../billing/ledger/charges.js';

/** One message of a stream whose facts cost credits. */
export interface Fact {
  stream: ChargedStream;
  seq: number;
  source: string;
  /** ISO 8601: when it happened. */
  at: string;
  /** A check that failed costs nothing; of a large one only the first part counts as a check. */
  kind: 'check' | 'failed check' | 'other';
  causes: readonly ChargeCause[];
}

/** A command on the ledger that follows from a decision about the account. */
export interface AccountFact {
  seq: number;
  command: LedgerCommand;
}

/** A message of CREDITS. */
export interface AuditedDecision {
  seq: number;
  decision: CreditDecision;
}

/** The ledger as the tables have it; all numbers in credits but `seq` and `movements`. */
export interface TabledLedger {
  seq: number;
  balance: number;
  state: LedgerState;
  /** Of `credit_movements`. */
  movements: number;
  sumOfMovements: number;
  /** Of `credit_usage`. */
  sumOfUsage: number;
}

/** Everything that an audit looks at. */
export interface AuditInput {
  accountId: string;
  /** ms */
  now: number;
  decisions: readonly AuditedDecision[];
  /** The facts were read after this message of CREDITS: of charges up to it the facts must be there. */
  chargedBefore: number;
  facts: readonly Fact[];
  accountFacts: readonly AccountFact[];
  /** Up to where billing has worked through each stream. */
  followed: Readonly<Record<ChargedStream | 'ACCOUNTS', number>>;
  /** ms: what happened before is no longer in the stream. */
  keptSince: Readonly<Record<ChargedStream, number>>;
  /** Keywords and lone watches of the account that were not purged, by id. */
  existing: ReadonlySet<string>;
  /** Undefined: the tables know nothing of the account. */
  tables: TabledLedger | undefined;
  quotes: readonly QuotedPeriod[];
}
