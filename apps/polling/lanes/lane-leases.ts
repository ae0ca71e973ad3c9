import { newId } from '#kernel';
import type { Database } from '#postgres';
import type { LaneMemory } from './lane-memory.js';

/** A row of the table of lanes. */
export interface LaneRow {
  lane: string;
  source: string;
  blocked_until: Date;
  failures: number;
  trouble: string;
  last_success_at: Date | null;
  memory: Partial<Pick<LaneMemory, 'blockedReason' | 'feed' | 'quotas'>>;
}

/** The lanes of a replica. */
export interface HeldLanes {
  /** The lanes of the replica's share. */
  held: LaneRow[];
  /**
   * Names of lanes beyond the replica's share: the replica finishes the running requests of these lanes, then releases
   * the lanes.
   */
  surplus: string[];
}

/** Returns what the last holder of the lane has stored. */
export function memoryOf(row: LaneRow): LaneMemory {
  return {
    blockedUntil: row.blocked_until,
    blockedReason: row.memory.blockedReason ?? '',
    failures: row.failures,
    trouble: row.trouble,
    lastSuccessAt: row.last_success_at ?? undefined,
    feed: row.memory.feed,
    quotas: row.memory.quotas ?? {},
  };
}

/**
 * Shares the lanes among the polling replicas. At most one replica holds a lane at a time, and each replica takes a
 * fair share. If a replica does not renew its leases, its lanes move to other replicas when the leases expire. All
 * times are those of the database's clock.
 */
export class LaneLeases {
  readonly replica = newId();

  constructor(
    private readonly database: Database,
    private readonly leaseMs: number,
  ) {}

  /** Creates the rows of the sources' lanes, and assigns every search to a lane. */
  async prepare(lanes: ReadonlyMap<string, number>): Promise<void> {
    for (const [source, count] of lanes) {
      for (let n = 0; n < count; n += 1)
        await this.database.query('INSERT INTO lanes (lane, source) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
          `${source}:${n}`,
          source,
        ]);
      // The number of lanes is a setting. After a change, searches move, and unused lanes stay empty.
      await this.database.query(
        `UPDATE upstream_searches SET lane = source || ':' || (abs(hashtextextended(search_key, 0)) % $2)
         WHERE source = $1 AND lane <> source || ':' || (abs(hashtextextended(search_key, 0)) % $2)`,
        [source, count],
      );
    }
  }

  /**
   * Records that this replica is alive, renews its leases, and takes free lanes up to its share. The share is computed
   * only once. With two computations, another replica could join between them, and lanes that were just taken would
   * be surplus.
   */
  async renew(sources: readonly string[]): Promise<HeldLanes> {
    await this.database.query(
      `INSERT INTO polling_replicas (replica, seen_at) VALUES ($1, now())
       ON CONFLICT (replica) DO UPDATE SET seen_at = now()`,
      [this.replica],
    );
    // Deletes the rows of other replicas that have died, because a killed replica does not delete its own row.
    await this.database.query(`DELETE FROM polling_replicas WHERE seen_at < now() - interval '1 hour'`);
    const held = await this.update('owner = $1 AND leased_until > now()', []);
    const part = await this.fairPart(sources);
    // The lanes are sorted, so that the same lanes stay surplus until they are released.
    held.sort((a, b) => (a.lane < b.lane ? -1 : 1));
    const surplus = held.slice(part).map(({ lane }) => lane);
    if (held.length >= part) return { held: held.slice(0, part), surplus };
    const taken = await this.update(
      // With `IN (SELECT … LIMIT …)` Postgres could run the subquery for every row, and the limit would not apply.
      `lane = ANY (ARRAY(SELECT lane FROM lanes WHERE leased_until <= now() AND source = ANY($3)
                ORDER BY lane LIMIT $4 FOR UPDATE SKIP LOCKED))`,
      [sources, part - held.length],
    );
    return { held: [...held, ...taken], surplus };
  }

  async release(lanes: readonly string[]): Promise<void> {
    await this.database.query(`UPDATE lanes SET leased_until = 'epoch' WHERE lane = ANY($1) AND owner = $2`, [
      lanes,
      this.replica,
    ]);
  }

  async leave(): Promise<void> {
    await this.database.query(`UPDATE lanes SET leased_until = 'epoch' WHERE owner = $1`, [this.replica]);
    await this.database.query('DELETE FROM polling_replicas WHERE replica = $1', [this.replica]);
  }

  /** Stores what a lane has learned about its upstream, so that it stays known after a move or a restart. */
  async remember(lane: string, memory: LaneMemory): Promise<void> {
    const { blockedUntil, blockedReason, failures, trouble, lastSuccessAt, feed, quotas } = memory;
    // A replica that has lost the lane must not overwrite what the new holder has learned.
    await this.database.query(
      `UPDATE lanes SET blocked_until = $2, failures = $3, trouble = $4, last_success_at = $5, memory = $6
       WHERE lane = $1 AND owner = $7`,
      [
        lane,
        blockedUntil,
        failures,
        trouble,
        lastSuccessAt ?? null,
        JSON.stringify({ blockedReason, feed, quotas }),
        this.replica,
      ],
    );
  }

  private async fairPart(sources: readonly string[]): Promise<number> {
    const rows: { part: number }[] = await this.database.query(
      `SELECT ceil((SELECT count(*) FROM lanes WHERE source = ANY($1))::numeric /
         GREATEST(1, (SELECT count(*) FROM polling_replicas WHERE seen_at > now() - make_interval(secs => $2))))::int AS part`,
      [sources, this.leaseMs / 1000],
    );
    return rows[0]?.part ?? 0;
  }

  private async update(condition: string, params: readonly unknown[]): Promise<LaneRow[]> {
    const answer: [LaneRow[], number] = await this.database.query(
      `UPDATE lanes SET owner = $1, leased_until = now() + make_interval(secs => $2) WHERE ${condition}
       RETURNING lane, source, blocked_until, failures, trouble, last_success_at, memory`,
      [this.replica, this.leaseMs / 1000, ...params],
    );
    return answer[0];
  }
}
