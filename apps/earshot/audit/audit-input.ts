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
  /** ISO 8601: time of the fact. */
  at: string;
  /** `other`: any other fact, and the second and later parts of a large check. */
  kind: 'check' | 'failed check' | 'other';
  causes: readonly ChargeCause[];
}

/** A command on the ledger, and the sequence in ACCOUNTS of the decision that causes it. */
export interface AccountFact {
  seq: number;
  command: LedgerCommand;
}

/** A message of CREDITS. */
export interface AuditedDecision {
  seq: number;
  decision: CreditDecision;
}

/** The ledger that the tables contain. All numbers are credits, except `seq` and `movements`. */
export interface LedgerInTables {
  seq: number;
  balance: number;
  state: LedgerState;
  /** Number of rows in `credit_movements`. */
  movements: number;
  sumOfMovements: number;
  /** From `credit_usage`. */
  sumOfUsage: number;
}

/** The input of an audit. */
export interface AuditInput {
  accountId: string;
  /** Time of the audit, in ms. */
  now: number;
  decisions: readonly AuditedDecision[];
  /**
   * Sequence of the last message of CREDITS before the facts were read. The facts of all charges up to this message
   * must exist, unless they are older than `keptSince` or were purged.
   */
  chargedBefore: number;
  facts: readonly Fact[];
  accountFacts: readonly AccountFact[];
  /** The position of billing in each stream. */
  followed: Readonly<Record<ChargedStream | 'ACCOUNTS', number>>;
  /** Time in ms; the stream no longer contains earlier facts. */
  keptSince: Readonly<Record<ChargedStream, number>>;
  /** The ids of the account's keywords, and of its watches without a keyword, that were not purged. */
  existing: ReadonlySet<string>;
  /** Undefined if the tables do not contain the account. */
  tables: LedgerInTables | undefined;
  quotes: readonly QuotedPeriod[];
}
