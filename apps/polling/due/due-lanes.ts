import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '#postgres';

/** Lanes that ask within this time share a statement. They ask at nearly the same moment: see `untilNextTick`. */
const TOGETHER_MS = 5;

/**
 * Finds which lanes of this process have due searches. One statement serves all lanes, because each lane asks several
 * times a second, and usually nothing is due.
 */
export class DueLanes {
  private look: Look | undefined;

  constructor(private readonly database: Database) {}

  /** True if the lane has a due search that nobody has claimed. */
  async has(lane: string): Promise<boolean> {
    const look = (this.look ??= this.begin());
    look.lanes.add(lane);
    return (await look.due).has(lane);
  }

  private begin(): Look {
    const lanes = new Set<string>();
    return { lanes, due: this.ask(lanes) };
  }

  private async ask(lanes: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    await wait(TOGETHER_MS);
    this.look = undefined;
    // With EXISTS, Postgres may read all due searches of all lanes. With the limit, it reads one search of each lane.
    const rows: { lane: string }[] = await this.database.query(
      `SELECT l.lane FROM unnest($1::text[]) AS l (lane) CROSS JOIN LATERAL (SELECT FROM upstream_searches s
         WHERE s.lane = l.lane AND s.next_due_at <= now() AND s.leased_until < now() ORDER BY s.next_due_at LIMIT 1) AS due`,
      [[...lanes]],
    );
    return new Set(rows.map(({ lane }) => lane));
  }
}

/** The lanes that share a statement, and the lanes among them that have due searches. */
interface Look {
  lanes: Set<string>;
  due: Promise<ReadonlySet<string>>;
}

/** Milliseconds until the next multiple of a tick, which is the same moment for all lanes. */
export function untilNextTick(tickMs: number): number {
  return tickMs - (Date.now() % tickMs);
}
