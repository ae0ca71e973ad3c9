import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { CreditDecisionSchema } from '#contracts';
import { predecessorOf } from '#event-store';
import { done, retry, type ConsumerOptions, type Outcome } from '#messaging';
import { DATABASE } from '#platform';
import type { Database, Tx } from '#postgres';
import { AppliedUpTo, ConsumerPattern } from '#transport';
import { noLedger } from '../domain/ledger-state.js';
import {
  applyDecision,
  lockLedgers,
  positionsOf,
  writeLedgers,
  type LedgerChange,
  type StoredDecision,
} from '../ledger/ledger-tables.js';

const RETRY_MS = 200;

/** The consumer that updates the tables from CREDITS. */
export const CREDITS: ConsumerOptions = {
  stream: 'CREDITS',
  name: 'projection-credits-v1',
  batchSize: 500,
  // The transaction of the ledger's writer commits soon after its message is stored. With this delay, the consumer
  // does not have to wait for the locks of that transaction.
  lingerMs: 1000,
};

/**
 * Updates the tables of the ledgers from CREDITS. Normally the writer has already updated the tables in the transaction
 * of its decision. This handler updates the tables if that transaction was not committed after the append to CREDITS,
 * for example because the process died.
 */
@Controller()
export class CreditsHandler {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  @AppliedUpTo(CREDITS)
  async appliedUpTo(): Promise<number> {
    const [row] = await this.database.query<{ seq: number | null }[]>(
      'SELECT max(seq) AS seq FROM credit_balances',
    );
    return row?.seq ?? 0;
  }

  @ConsumerPattern(CREDITS)
  async apply(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const positions = await positionsOf(this.database.manager, accountsOf(batch));
    const missing = batch.filter(({ subject, seq }) => seq > (positions.get(accountOf(subject)) ?? 0));
    const early =
      missing.length === 0 ? new Set() : await this.database.transaction((tx) => apply(tx, missing));
    return batch.map((message): Outcome => (early.has(message) ? retry(RETRY_MS) : done));
  }
}

/** Applies messages to the tables. @returns the messages whose predecessor on the subject was not applied yet */
async function apply(tx: Tx, batch: readonly JsMsg[]): Promise<Set<JsMsg>> {
  const accountIds = accountsOf(batch);
  const ledgers = await lockLedgers(tx, accountIds, accountIds);
  const early = new Set<JsMsg>();
  const changes = new Map<string, LedgerChange & { decisions: StoredDecision[] }>();
  for (const message of [...batch].sort((a, b) => a.seq - b.seq)) {
    const accountId = accountOf(message.subject);
    const ledger = ledgers.get(accountId) ?? { state: noLedger, seq: 0 };
    if (message.seq <= ledger.seq) continue;
    if ((predecessorOf(message.headers) ?? 0) > ledger.seq) {
      early.add(message);
      continue;
    }
    const decision = fromBinary(CreditDecisionSchema, message.data);
    const { after, stored } = applyDecision(ledger, message.seq, decision);
    ledgers.set(accountId, after);
    const decisions = changes.get(accountId)?.decisions ?? [];
    decisions.push(stored);
    changes.set(accountId, { accountId, after, decisions });
  }
  await writeLedgers(tx, [...changes.values()]);
  return early;
}

function accountsOf(batch: readonly JsMsg[]): string[] {
  return [...new Set(batch.map(({ subject }) => accountOf(subject)))];
}

/** Returns the account of a subject `credits.<account>`. */
function accountOf(subject: string): string {
  return subject.slice('credits.'.length);
}
