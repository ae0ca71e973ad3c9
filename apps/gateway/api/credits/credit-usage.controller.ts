import { Controller, Get, Query } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { CreditReads, USAGE_GROUPS, type LedgerSums } from '../../reads/credit-reads.js';

const DAY_MS = 24 * 3_600_000;
const WINDOW_DAYS = 30;
const MAX_DAYS = 92;

/** Shows how credits were used over time, and whether the sums of the ledger agree. Free. */
@Controller('v1/credits')
export class CreditUsageController {
  constructor(private readonly reads: CreditReads) {}

  @Get('usage')
  async usage(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const group = query.one('group', USAGE_GROUPS);
    const { from: since, to: until = new Date() } = query.window('since', 'until', WINDOW_DAYS * DAY_MS);
    if (until.getTime() - since.getTime() > MAX_DAYS * DAY_MS)
      query.fault('since', `must be at most ${MAX_DAYS} days before until`);
    query.finish();
    const days = await this.reads.usage(accountId, { since, until, group });
    return {
      data: days.map(({ day, ...one }) => ({ at: isoOf(day), ...one })),
      since: isoOf(since),
      until: isoOf(until),
    };
  }

  @Get('audit')
  async audit(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    new QueryReader(raw).finish();
    const sums = await this.reads.sums(accountId);
    if (!sums)
      throw Refusal.unavailable('the credits of this account are not available yet; try again in a moment');
    const faults = faultsOf(sums);
    return {
      consistent: faults.length === 0,
      faults,
      movements: sums.movements,
      balance: sums.balance,
      sumOfMovements: sums.sumOfMovements,
      chargedThisPeriod: sums.charged,
      checkedAt: isoOf(Date.now()),
    };
  }
}

function faultsOf({ balance, movements, sumOfMovements, lastBalance, charged, usage }: LedgerSums): string[] {
  const faults: string[] = [];
  if (sumOfMovements !== balance)
    faults.push(`the sum of the ${movements} movements is ${sumOfMovements}, but the balance is ${balance}`);
  if (lastBalance !== null && lastBalance !== balance)
    faults.push(`the balance after the last movement is ${lastBalance}, but the balance is ${balance}`);
  if (charged !== usage)
    faults.push(`the charges of this period add up to ${charged}, but its usage is ${usage}`);
  return faults;
}
