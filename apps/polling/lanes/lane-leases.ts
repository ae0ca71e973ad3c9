import { newId } from '#kernel';
import type { Database } from '#postgres';
import type { LaneMemory } from './lane-memory.js';

/** A lane as the table has it. */
export interface LaneRow {
  lane: string;
  source: string;
  blocked_until: Date;
  failures: number;
  trouble: string;
  last_success_at: Date | null;
  memory: Partial<Pick<LaneMemory, 'blockedReason' | 'feed' | 'quotas'>>;
}

/** What a replica holds. */
export interface HeldLanes {
  /** Its part. */
  mine: LaneRow[];
  /** Names of the lanes beyond it: it finishes what they have under way, then gives them back. */
  surplus: string[];
}

/** What the lane's last holder has left. */
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
 * Shares the lanes among the polling replicas: each lane belongs to one replica at a time, each replica takes its
 * fair part, and a silent replica's lanes move when their lease has run out. The database's clock counts.
 */
export class LaneLeases {
  readonly replica = newId();

  constructor(
    private readonly database: Database,
    private readonly leaseMs: number,
  ) {}

  /** Makes the rows of the sources' lanes and puts every search into one of them. */
  async prepare(lanes: ReadonlyMap<string, number>): Promise<void> {
    for (const [source, count] of lanes) {
      for (let n = 0; n < count; n += 1)
        await this.database.query('INSERT INTO lanes (lane, source) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
          `${source}:${n}`,
          source,
        ]);
      // The number of lanes is a setting: after a change searches move, and lanes beyond it are left empty.
      await this.database.query(
        `UPDATE upstream_searches SET lane = source || ':' || (abs(hashtextextended(search_key, 0)) % $2)
         WHERE source = $1 AND lane <> source || ':' || (abs(hashtextextended(search_key, 0)) % $2)`,
        [source, count],
      );
    }
  }

  /**
   * Says that this replica lives, renews what it holds and takes free lanes up to its part. The part is counted once:
   * counted again for the surplus, a replica that joined meanwhile would make lanes surplus that were only just taken.
   */
  async renew(sources: readonly string[]): Promise<HeldLanes> {
    await this.database.query(
      `INSERT INTO polling_replicas (replica, seen_at) VALUES ($1, now())
       ON CONFLICT (replica) DO UPDATE SET seen_at = now()`,
      [this.replica],
    );
    // Replicas that were killed never say goodbye.
    await this.database.query(`DELETE FROM polling_replicas WHERE seen_at < now() - interval '1 hour'`);
    const held = await this.update('owner = $1 AND leased_until > now()', []);
    const part = await this.fairPart(sources);
    // In one order every time: what is being given back stays the surplus until it is gone.
    held.sort((a, b) => (a.lane < b.lane ? -1 : 1));
    const surplus = held.slice(part).map(({ lane }) => lane);
    if (held.length >= part) return { mine: held.slice(0, part), surplus };
    const taken = await this.update(
      // As `IN (SELECT … LIMIT …)` it could be run for every row, and no limit would hold.
      `lane = ANY (ARRAY(SELECT lane FROM lanes WHERE leased_until <= now() AND source = ANY($3)
                ORDER BY lane LIMIT $4 FOR UPDATE SKIP LOCKED))`,
      [sources, part - held.length],
    );
    return { mine: [...held, ...taken], surplus };
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

  /** Keeps what a lane has learned about its upstream, so that it holds after a move or a restart. */
  async remember(lane: string, memory: LaneMemory): Promise<void> {
    const { blockedUntil, blockedReason, failures, trouble, lastSuccessAt, feed, quotas } = memory;
    // Whoever has lost the lane meanwhile must not overwrite what its new holder has learned.
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
