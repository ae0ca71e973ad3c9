import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { CreditDecisionSchema, type CreditMovement } from '#contracts';
import { AppendConflict, type EventStore } from '#event-store';
import { failpoint, isoOf, newId, type Clock, Outage } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database, Tx } from '#postgres';
import { metrics } from '#telemetry';
import { decideAll, movementIdOf, type LedgerCommand } from '../domain/ledger.js';
import { noLedger, type OpenLedger } from '../domain/ledger-state.js';
import {
  applyDecision,
  knownMovements,
  lockLedgers,
  writeLedgers,
  type Ledger,
  type LedgerChange,
  type StoredDecision,
} from './ledger-tables.js';

/** A command, and the account whose ledger it changes. */
export interface AccountCommand {
  accountId: string;
  command: LedgerCommand;
}

/**
 * Maximum number of commands in one transaction. A message of NATS can have 1 MiB; a movement needs about 350 bytes.
 */
const COMMANDS_PER_TRANSACTION = 1000;
const APPEND_ATTEMPTS = 5;

/**
 * The only class that writes to CREDITS. Commands on one account that arrive together are decided together and become
 * one message. The message is appended only if no other process has appended a message meanwhile. The tables are
 * updated in the transaction that holds the locks on the accounts' rows.
 */
export class LedgerWriter {
  constructor(
    private readonly database: Database,
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Executes the commands that were not executed before, in order for each account. If an earlier call crashed between
   * the append and the update of the tables, the append of this call conflicts, and the tables are updated first.
   * Commands on an account whose ledger is not open are not executed, unless one of them opens the ledger.
   * @returns the open ledgers of the accounts after the commands
   * @throws Refusal like `decide`; Outage if the stream stays inconsistent with the tables
   */
  async write(commands: readonly AccountCommand[]): Promise<Map<string, OpenLedger>> {
    const ledgers = new Map<string, OpenLedger>();
    for (let from = 0; from < commands.length; from += COMMANDS_PER_TRANSACTION) {
      const batch = commands.slice(from, from + COMMANDS_PER_TRANSACTION);
      const written = await this.database.transaction((tx) => this.writeIn(tx, batch));
      for (const [accountId, ledger] of written) ledgers.set(accountId, ledger);
    }
    return ledgers;
  }

  private async writeIn(tx: Tx, commands: readonly AccountCommand[]): Promise<Map<string, OpenLedger>> {
    const byAccount = new Map<string, Map<string, LedgerCommand>>();
    const opening = new Set<string>();
    for (const { accountId, command } of commands) {
      const own = byAccount.get(accountId) ?? new Map<string, LedgerCommand>();
      const id = movementIdOf(command, accountId) ?? command.kind;
      if (!own.has(id)) own.set(id, command);
      byAccount.set(accountId, own);
      if (command.kind === 'open') opening.add(accountId);
    }
    const ledgers = await lockLedgers(tx, [...byAccount.keys()], [...opening]);
    // A separate statement after the lock reads the movements, so that it sees what other transactions wrote while this
    // transaction waited for the lock.
    const known = await knownMovements(
      tx,
      [...byAccount.values()].flatMap((own) =>
        [...own].filter(([, { kind }]) => kind !== 'renew').map(([id]) => id),
      ),
    );
    const moment = isoOf(this.clock.now());
    const changes = await Promise.all(
      [...byAccount].map(async ([accountId, own]) => {
        const ledger = ledgers.get(accountId) ?? { state: noLedger, seq: 0 };
        if (ledger.state.status === 'none' && !opening.has(accountId)) return undefined;
        return this.append(accountId, ledger, own, known, moment);
      }),
    );
    failpoint('billing-after-append-before-projection');
    const done = changes.filter((change) => change !== undefined);
    await writeLedgers(
      tx,
      done.filter(({ decisions }) => decisions.length > 0),
    );
    return new Map(
      done.flatMap(({ accountId, after: { state } }) =>
        state.status === 'open' ? [[accountId, state]] : [],
      ),
    );
  }

  private async append(
    accountId: string,
    before: Ledger,
    commands: ReadonlyMap<string, LedgerCommand>,
    known: ReadonlySet<string>,
    now: string,
  ): Promise<LedgerChange> {
    const subject = subjectOf('CREDITS', accountId);
    const decisions: StoredDecision[] = [];
    const applied = new Set<string>();
    let ledger = before;
    for (let attempt = 1; attempt <= APPEND_ATTEMPTS; attempt += 1) {
      const open = [...commands]
        .filter(([id]) => !known.has(id) && !applied.has(id))
        .map(([, command]) => command);
      const movements = decideAll(open, ledger.state, { accountId, now });
      if (movements.length === 0) return { accountId, after: ledger, decisions };
      const decision = create(CreditDecisionSchema, {
        decisionId: newId(),
        accountId,
        decidedAt: now,
        movements,
      });
      try {
        const data = toBinary(CreditDecisionSchema, decision);
        const seq = await this.store.append(subject, data, ledger.seq, decision.decisionId);
        count(movements);
        const { after, stored } = applyDecision(ledger, seq, decision);
        return { accountId, after, decisions: [...decisions, stored] };
      } catch (error) {
        if (!(error instanceof AppendConflict)) throw error;
        ledger = await this.catchUp(subject, ledger, decisions);
        for (const { decision: found } of decisions)
          for (const { movementId } of found.movements) applied.add(movementId);
      }
    }
    throw new Outage(
      'NATS',
      `${subject} is not at the position that the tables contain, and has no newer messages`,
    );
  }

  /**
   * Applies the messages that are missing in the tables. Another writer, or a writer that crashed, has appended these
   * messages.
   */
  private async catchUp(subject: string, ledger: Ledger, decisions: StoredDecision[]): Promise<Ledger> {
    let current = ledger;
    for (const { seq, data } of await this.store.read('CREDITS', subject, ledger.seq)) {
      const { after, stored } = applyDecision(current, seq, fromBinary(CreditDecisionSchema, data));
      current = after;
      decisions.push(stored);
    }
    return current;
  }
}

function count(movements: readonly CreditMovement[]): void {
  for (const { amount, cause } of movements) {
    metrics.creditMovements.add(1, { kind: cause.case ?? 'unknown' });
    if (cause.case !== 'charge') continue;
    const { source, operation, costCredits } = cause.value;
    metrics.creditsCharged.add(0 - amount, { source, operation });
    metrics.creditsUncovered.add(costCredits + amount);
  }
}
