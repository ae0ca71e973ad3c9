import { Controller, Get, Query } from '@nestjs/common';
import { SOURCE_IDS } from '#contracts';
import { isId, isoOf, Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { CreditReads, type LedgerPosition, type MovementRow, type Usage } from '../../reads/credit-reads.js';

const KINDS = ['charge', 'grant', 'pack_expiry', 'renewal', 'allowance_change'] as const;

/** The routes of the credits of an account, and of all movements of these credits. Free. */
@Controller('v1/credits')
export class CreditsController {
  constructor(
    private readonly reads: CreditReads,
    private readonly cursors: Cursors,
  ) {}

  @Get()
  async balance(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    new QueryReader(raw).finish();
    const found = await this.reads.balance(accountId);
    // The process that opened the account can have died before it opened the ledger.
    if (!found)
      throw Refusal.unavailable('the credits of this account are not available yet; try again in a moment');
    const { balance, usage } = found;
    return {
      plan: balance.plan,
      periodStart: isoOf(balance.periodStart),
      periodEnd: isoOf(balance.periodEnd),
      monthlyAllowance: balance.monthlyAllowance,
      allowanceRemaining: balance.allowanceRemaining,
      packs: balance.packs,
      creditsRemaining: balance.remaining,
      // The part of the balance that is reserved for work that has begun.
      creditsReserved: balance.reserved,
      usedThisPeriod: usage.reduce((sum, { credits }) => sum + credits, 0),
      // Charges for semantic questions and analyses have no source.
      bySource: sumBy(
        usage.filter(({ source }) => source !== ''),
        ({ source }) => source,
      ),
      byOperation: sumBy(usage, ({ operation }) => operation),
    };
  }

  @Get('ledger')
  async ledger(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const kinds = query.all('kind', KINDS);
    const sources = query.all('source', SOURCE_IDS);
    const keywords = query.all('keyword').map((id) => id.toLowerCase());
    if (!keywords.every(isId)) query.fault('keyword', 'must be the id of a keyword');
    const { from: since, to: until } = query.span('since', 'until');
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = {
      list: 'ledger',
      accountId,
      kinds,
      sources,
      keywords,
      since: raw.since ?? null,
      until: raw.until ?? null,
    };
    const before = cursor === undefined ? undefined : this.cursors.read<LedgerPosition>(scope, cursor);
    const found = await this.reads.movements(accountId, {
      kinds,
      sources,
      keywords,
      since,
      until,
      limit,
      before,
    });
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map(movementView),
      ...(last ? { nextCursor: this.cursors.write(scope, { seq: last.seq, place: last.place }) } : {}),
    };
  }
}

function sumBy(usage: readonly Usage[], keyOf: (one: Usage) => string): Record<string, number> {
  const sums = new Map<string, number>();
  for (const one of usage) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0) + one.credits);
  return Object.fromEntries(sums);
}

function movementView(row: MovementRow) {
  return {
    id: row.movement_id,
    at: isoOf(row.at),
    kind: row.kind,
    amount: row.amount,
    balanceAfter: row.balance_after,
    operation: row.operation,
    source: row.source,
    keywordId: row.keyword_id,
    watchId: row.watch_id,
    checkId: row.check_id,
    /** `rate`: credits for one unit. `units`: number of units. */
    rate: row.rate,
    units: row.units,
    priceBookVersion: row.price_book_version,
    reference: row.reference,
  };
}
