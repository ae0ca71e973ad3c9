import { LRUCache } from 'lru-cache';
import { Pool, type buildConnector, type Dispatcher } from 'undici';

// If there are more pools than this, the least recently used pool is closed when its requests are done.
const POOLS_KEPT = 4_000;

/** One bounded pool of keep-alive connections per scheme, host and port. */
export class Pools {
  private readonly pools: LRUCache<string, Pool>;

  constructor(
    private readonly connect: buildConnector.connector,
    private readonly connectionsPerOrigin: number,
  ) {
    this.pools = new LRUCache({
      max: POOLS_KEPT,
      // Failures of a closing pool are reported to its requests; nobody waits for the close itself.
      dispose: (pool) => void pool.close().catch(() => undefined),
    });
  }

  /** Returns the pool of an origin (`https://example.org:8443`). */
  of(origin: string): Dispatcher {
    const known = this.pools.get(origin);
    if (known) return known;
    const pool = new Pool(origin, {
      connect: this.connect,
      connections: this.connectionsPerOrigin,
      pipelining: 1,
      // The exchange has one deadline for everything. Each timeout of undici limits only a part.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.pools.set(origin, pool);
    return pool;
  }

  /** Closes the connections of all kept pools without waiting: running requests fail. */
  async close(): Promise<void> {
    const open = [...this.pools.values()];
    await Promise.all(open.map((pool) => pool.destroy()));
    this.pools.clear();
  }
}
