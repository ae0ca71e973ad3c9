import type { Check } from '#contracts';
import { until } from '#testing';
import { openPollingStores, Upstream, workerOn, type PollingStores } from './polling-under-test.js';
import type { LaneWorker } from '../lanes/lane-worker.js';

/** @returns the ids of the items of a check */
export const idsOf = (check: Check | undefined) => check?.items.map(({ item }) => item?.itemId);

/** A lane in real stores, with an upstream and a worker that are new in each test. */
export class LaneScene {
  stores!: PollingStores;
  upstream!: Upstream;
  worker!: LaneWorker;

  async start(): Promise<void> {
    this.stores = await openPollingStores();
  }

  async stop(): Promise<void> {
    await this.stores?.drop();
  }

  /** Removes all watches and searches, and starts a worker on a new upstream. */
  async begin(): Promise<void> {
    await this.stores.database.query('DELETE FROM watch_schedule');
    await this.stores.database.query('DELETE FROM upstream_searches');
    this.upstream = new Upstream();
    this.worker = workerOn(this.upstream, this.stores).worker;
    this.worker.start();
  }

  /** Makes the watches due and waits for the check of each. */
  readonly tick = async (...watchIds: string[]): Promise<Check[]> => {
    const { stores } = this;
    const before = await Promise.all(watchIds.map(async (id) => (await stores.checksOf(id)).length));
    await stores.due(...watchIds);
    return Promise.all(
      watchIds.map((id, n) =>
        until(`a check of ${id}`, async () => (await stores.checksOf(id))[before[n] ?? 0]),
      ),
    );
  };

  /** Waits until the tables contain the checks of these watches: none of the watches is due any more. */
  readonly settled = async (...watchIds: string[]): Promise<void> => {
    const { stores } = this;
    await until('the tables contain the checks', async () => {
      const rows: { busy: number }[] = await stores.database.query(
        `SELECT count(*)::int AS busy FROM watch_schedule WHERE watch_id = ANY($1) AND time_of(due_second) <= clock_timestamp()`,
        [watchIds],
      );
      return rows[0]?.busy === 0;
    });
  };
}
