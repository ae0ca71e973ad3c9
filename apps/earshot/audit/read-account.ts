import { fromBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema, CheckCostSchema, CreditDecisionSchema, type CreditPack } from '#contracts';
import { EventStore } from '#event-store';
import { isoOf } from '#kernel';
import { consumerInfo, subjectOf, type Bus, type StreamName } from '#messaging';
import type { Database, Tx } from '#postgres';
import type { QuotedPeriod } from '#quotes';
import { ledgerCommandsOf } from '../../billing/ledger/account-ledgers.js';
import { CHARGED_STREAMS, chargesOf, type ChargedStream } from '../../billing/ledger/charges.js';
import type { AuditInput, Fact, LedgerInTables } from './audit-input.js';

/**
 * Reads the input of an audit of the account from a running installation. The order of the reads matters: a charge that
 * is written meanwhile must not be reported as missing, or as a charge without a fact.
 */
export async function readAccount(bus: Bus, database: Database, accountId: string): Promise<AuditInput> {
  const now = Date.now();
  const store = new EventStore(bus);
  const chargedBefore = await store.lastSeq('CREDITS', subjectOf('CREDITS', accountId));
  const facts = (
    await Promise.all(CHARGED_STREAMS.map((stream) => factsOf(store, stream, accountId)))
  ).flat();
  const ofAccount = await messagesOf(store, 'ACCOUNTS', subjectOf('ACCOUNTS', accountId), (data) =>
    ledgerCommandsOf(fromBinary(AccountDecisionSchema, data)),
  );
  const accountFacts = ofAccount.flatMap(({ seq, data }) => data.map((command) => ({ seq, command })));
  const existing = await existingOf(bus, accountId);
  const followed = await eachStream([...CHARGED_STREAMS, 'ACCOUNTS'], (stream) => followedOf(bus, stream));
  const keptSince = await eachStream(CHARGED_STREAMS, (stream) => keptSinceOf(bus, stream, now));
  const { tables, quotes } = await database.transaction('REPEATABLE READ', async (tx) => ({
    tables: await tablesOf(tx, accountId),
    quotes: await quotesOf(tx, accountId),
  }));
  const ofCredits = await messagesOf(store, 'CREDITS', subjectOf('CREDITS', accountId), (data) =>
    fromBinary(CreditDecisionSchema, data),
  );
  const decisions = ofCredits.map(({ seq, data: decision }) => ({ seq, decision }));
  return {
    accountId,
    now,
    decisions,
    chargedBefore,
    facts,
    accountFacts,
    followed,
    keptSince,
    existing,
    tables,
    quotes,
  };
}

async function eachStream<S extends string>(
  streams: readonly S[],
  read: (stream: S) => Promise<number>,
): Promise<Record<S, number>> {
  const found = await Promise.all(streams.map(async (stream) => [stream, await read(stream)] as const));
  return Object.fromEntries(found) as Record<S, number>;
}

async function factsOf(store: EventStore, stream: ChargedStream, accountId: string): Promise<Fact[]> {
  const subject = subjectOf(stream, accountId, ...(stream === 'LOOKUPS' ? [] : ['>']));
  const messages = await messagesOf(store, stream, subject, (data) => factOf(stream, data));
  return messages.flatMap(({ seq, data }) => (data ? [{ ...data, seq }] : []));
}

/** Converts a message. Returns undefined for a message that costs nothing and does not count as a check. */
function factOf(stream: ChargedStream, data: Uint8Array): Omit<Fact, 'seq'> | undefined {
  const { causes } = chargesOf(stream, data);
  const first = causes[0];
  if (stream !== 'CHECKS')
    return first && { stream, source: first.source, at: first.at, kind: 'other', causes };
  const { part, failure, source, finishedAt } = fromBinary(CheckCostSchema, data, {
    readUnknownFields: false,
  });
  // Only the first part of a check is counted as a check. The part that contains the cost is charged.
  if (part > 1) return first && { stream, source, at: finishedAt, kind: 'other', causes };
  return { stream, source, at: finishedAt, kind: failure ? 'failed check' : 'check', causes };
}

/**
 * Returns every message of the subject, oldest first, converted by `read`.
 * @throws Outage if the server that delivers the messages lacks the newest of them, or stops delivering. Without these
 *   messages, the audit would report faults that do not exist
 */
function messagesOf<T>(
  store: EventStore,
  stream: StreamName,
  subject: string,
  read: (data: Uint8Array) => T,
): Promise<{ seq: number; data: T }[]> {
  return store.readSince(stream, subject, new Date(0), ({ seq, data }) => ({ seq, data: read(data) }));
}

/** Returns the ids of the existing keywords, and of the existing watches without a keyword. */
async function existingOf(bus: Bus, accountId: string): Promise<Set<string>> {
  const filter = subjectOf('KEYWORDS', accountId, '>');
  const { state } = await bus.jsm.streams.info('KEYWORDS', { subjects_filter: filter });
  return new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.split('.')[2] ?? ''));
}

/** Returns the position of billing in the stream; 0 if billing has never run. */
async function followedOf(bus: Bus, stream: StreamName): Promise<number> {
  const info = await consumerInfo(bus, stream, `billing-${stream.toLowerCase()}`);
  return info?.ack_floor.stream_seq ?? 0;
}

async function keptSinceOf(bus: Bus, stream: StreamName, now: number): Promise<number> {
  const { config } = await bus.jsm.streams.info(stream);
  return config.max_age === 0 ? -Infinity : now - config.max_age / 1_000_000;
}

interface BalanceRow {
  plan: string;
  opened_at: Date;
  period_start: Date;
  period_end: Date;
  allowance: number;
  allowance_used: number;
  packs: CreditPack[];
  balance: number;
  seq: number;
  movements: number;
  sum_of_movements: number;
  sum_of_usage: number;
}

async function tablesOf(tx: Tx, accountId: string): Promise<LedgerInTables | undefined> {
  const rows: BalanceRow[] = await tx.query(
    `SELECT b.*, m.movements, m.sum_of_movements, u.sum_of_usage FROM credit_balances b,
       (SELECT count(*) AS movements, COALESCE(sum(amount), 0)::bigint AS sum_of_movements
        FROM credit_movements WHERE account_id = $1) m,
       (SELECT COALESCE(sum(credits), 0)::bigint AS sum_of_usage FROM credit_usage WHERE account_id = $1) u
     WHERE b.account_id = $1`,
    [accountId],
  );
  const row = rows[0];
  return (
    row && {
      seq: row.seq,
      balance: row.balance,
      movements: row.movements,
      sumOfMovements: row.sum_of_movements,
      sumOfUsage: row.sum_of_usage,
      state: {
        status: 'open',
        plan: row.plan,
        openedAt: isoOf(row.opened_at),
        periodStart: isoOf(row.period_start),
        periodEnd: isoOf(row.period_end),
        allowance: row.allowance,
        allowanceUsed: row.allowance_used,
        packs: row.packs,
      },
    }
  );
}

async function quotesOf(tx: Tx, accountId: string): Promise<QuotedPeriod[]> {
  const rows: {
    watch_id: string;
    source: string;
    from_at: Date;
    to_at: Date | null;
    previous_to: Date | null;
    interval_seconds: number;
    credits_per_check: number;
    first_scan_credits: number;
  }[] = await tx.query(
    `SELECT *, lag(to_at) OVER (PARTITION BY watch_id ORDER BY from_at) AS previous_to FROM quoted_periods
     WHERE account_id = $1`,
    [accountId],
  );
  return rows.map((row) => ({
    watchId: row.watch_id,
    source: row.source,
    from: row.from_at.getTime(),
    to: row.to_at?.getTime(),
    previousTo: row.previous_to?.getTime(),
    intervalSeconds: row.interval_seconds,
    creditsPerCheck: row.credits_per_check,
    firstScanCredits: row.first_scan_credits,
  }));
}
