import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type AttemptRow, type ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { PurgedKeywords } from './purged-keywords.js';
import { clickHouseTime } from './time-page.js';

/** `retrying`: another attempt is planned. `given_up`: no attempt is planned, and none has succeeded. */
export const DELIVERY_STATES = ['delivered', 'retrying', 'given_up'] as const;

/** The kinds of targets of a delivery. */
export const TARGET_KINDS = ['webhook', 'resend', 'replay', 'channel', 'digest', 'verification'] as const;

/** The delivery of one event to one target, with its attempts, oldest first. */
export interface DeliveryRead {
  event_id: string;
  target_kind: string;
  target_id: string;
  /** Time of the first attempt, in ClickHouse's format. */
  begun: string;
  state: (typeof DELIVERY_STATES)[number];
  attempts: AttemptRow[];
}

/** The filter of a list of deliveries. */
export interface DeliveryFilter {
  keyword: string | undefined;
  watch: string | undefined;
  /** An address without query and credentials (`displayUrl`), or `channel:<id>`. */
  endpoint: string | undefined;
  state: (typeof DELIVERY_STATES)[number] | undefined;
  /** Kind of the target. */
  targetKind: string | undefined;
  /** Only deliveries whose first attempt was made at this time or later. */
  since: Date;
}

/** A delivery's position in the list: time in ClickHouse's format, event, and target. */
export interface DeliveryPosition {
  begun: string;
  event: string;
  target: string;
}

/** How many attempts the first query reads for each delivery of a page. Nearly every delivery has fewer. */
const ATTEMPTS_OF_A_DELIVERY = 9;

/** Reads deliveries from their attempts. */
@Injectable()
export class DeliveryReads {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    private readonly purged: PurgedKeywords,
  ) {}

  /**
   * Returns deliveries, ordered by their first attempt, newest first. Returns up to one more than `limit`, so that the
   * caller knows whether there is a next page. The first query reads only the attempts of the newest deliveries. If the
   * page is not full, the query is repeated with a larger limit.
   */
  async deliveries(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    before: DeliveryPosition | undefined,
  ): Promise<DeliveryRead[]> {
    const { where, having, params } = conditionsOf(filter, before);
    const purged = await this.purged.of(accountId);
    if (purged.length > 0) {
      where.push('keyword_id NOT IN {purged: Array(UUID)}');
      params.purged = purged;
    }
    const rows = `FROM attempts WHERE ${where.join(' AND ')}`;
    for (let max = (limit + 1) * ATTEMPTS_OF_A_DELIVERY; ; max *= 8) {
      const newest = `SELECT first_at ${rows} ORDER BY first_at DESC LIMIT ${max}`;
      const found = await selectRows<DeliveryRead>(
        this.clickhouse,
        `SELECT event_id, target_kind, target_id, min(first_at) AS begun,
           multiIf(max(delivered), 'delivered', argMax(ifNull(toString(next_attempt_at), ''), (at, number)) != '', 'retrying',
             'given_up') AS state
         ${rows} AND first_at >= (SELECT min(first_at) FROM (${newest}))
         GROUP BY event_id, target_kind, target_id
         ${having.length > 0 ? `HAVING ${having.join(' AND ')}` : ''}
         ORDER BY begun DESC, toString(event_id) DESC, toString(target_id) DESC LIMIT {max: UInt32}`,
        { ...params, accountId, max: limit + 1 },
      );
      if (found.length > limit || (await this.isAll(newest, { ...params, accountId }, max)))
        return this.withAttempts(accountId, found);
    }
  }

  /** Returns whether there are fewer than `max` attempts, so that all attempts were read. */
  private async isAll(newest: string, params: Record<string, unknown>, max: number): Promise<boolean> {
    const [row] = await selectRows<{ rows: string }>(
      this.clickhouse,
      `SELECT count() AS rows FROM (${newest})`,
      params,
    );
    return Number(row?.rows ?? 0) < max;
  }

  private async withAttempts(accountId: string, found: readonly DeliveryRead[]): Promise<DeliveryRead[]> {
    if (found.length === 0) return [];
    const rows = await selectRows<AttemptRow>(
      this.clickhouse,
      // LIMIT BY removes duplicate rows that ClickHouse has not merged yet.
      `SELECT * FROM attempts WHERE account_id = {accountId: UUID} AND event_id IN {events: Array(UUID)}
         AND first_at >= {from: DateTime64(3, 'UTC')} ORDER BY at, number LIMIT 1 BY attempt_id`,
      {
        accountId,
        events: [...new Set(found.map(({ event_id }) => event_id))],
        from: found.map(({ begun }) => begun).sort()[0],
      },
    );
    const keyOf = (one: Pick<AttemptRow, 'event_id' | 'target_kind' | 'target_id'>) =>
      `${one.event_id} ${one.target_kind} ${one.target_id}`;
    const byDelivery = new Map<string, AttemptRow[]>(found.map((one) => [keyOf(one), []]));
    for (const row of rows) byDelivery.get(keyOf(row))?.push(row);
    return found.map((one) => {
      const attempts = byDelivery.get(keyOf(one)) ?? [];
      // The state is computed from the attempts of this read, because a new attempt can have arrived after the list was
      // read.
      return { ...one, attempts, state: stateOf(attempts) };
    });
  }
}

function stateOf(attempts: readonly AttemptRow[]): DeliveryRead['state'] {
  if (attempts.some(({ delivered }) => delivered)) return 'delivered';
  return attempts.at(-1)?.next_attempt_at ? 'retrying' : 'given_up';
}

function conditionsOf(
  { keyword, watch, endpoint, state, targetKind, since }: DeliveryFilter,
  before: DeliveryPosition | undefined,
): { where: string[]; having: string[]; params: Record<string, unknown> } {
  const where = ['account_id = {accountId: UUID}', `first_at >= {since: DateTime64(3, 'UTC')}`];
  const having: string[] = [];
  if (keyword) where.push('keyword_id = {keyword: UUID}');
  if (watch) where.push('watch_id = {watch: UUID}');
  if (endpoint) where.push('endpoint = {endpoint: String}');
  if (targetKind) where.push('target_kind = {targetKind: String}');
  if (state) having.push('state = {state: String}');
  // A delivery that is `retrying` or `given_up` has a failed attempt, and few deliveries have one. So only these few
  // are read.
  if (state && state !== 'delivered')
    where.push(
      `event_id IN (SELECT event_id FROM attempts WHERE account_id = {accountId: UUID}
         AND first_at >= {since: DateTime64(3, 'UTC')} AND NOT delivered)`,
    );
  if (before) where.push(`first_at <= {begun: DateTime64(3, 'UTC')}`);
  if (before)
    having.push(
      `(begun, toString(event_id), toString(target_id)) < ({begun: DateTime64(3, 'UTC')}, {event: String}, {target: String})`,
    );
  const params = { keyword, watch, endpoint, state, targetKind, since: clickHouseTime(since), ...before };
  return {
    where,
    having,
    params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)),
  };
}
