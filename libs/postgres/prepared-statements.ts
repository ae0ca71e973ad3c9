import { LRUCache } from 'lru-cache';

/** A statement is prepared after this number of runs: a rare statement is not worth memory on every connection. */
const PREPARED_AFTER_RUNS = 20;
/**
 * Maximum number of prepared statements. Each takes about 10 to 50 kB in Postgres for every connection that runs it.
 */
const MAX_PREPARED = 200;
const MAX_COUNTED = 500;
/** A prepared statement with `*` fails after a migration of a newer release has added a column. */
const ALL_COLUMNS = /(?:\bSELECT|\bDISTINCT|\bRETURNING|[.,])\s*\*/i;

/**
 * Decides which statements of a process are prepared. Postgres parses and plans a prepared statement only a few times
 * for each connection. It plans any other statement at each run. Planning a short statement can take longer than the
 * run.
 */
export class PreparedStatements {
  private readonly names = new Map<string, string>();
  private readonly runs = new LRUCache<string, number>({ max: MAX_COUNTED });

  /** Counts a run. @returns the name under which the text is prepared; undefined if it is not */
  nameOf(text: string): string | undefined {
    const name = this.names.get(text);
    if (name !== undefined || this.names.size === MAX_PREPARED) return name;
    const runs = (this.runs.get(text) ?? 0) + 1;
    this.runs.set(text, runs);
    if (runs <= PREPARED_AFTER_RUNS || ALL_COLUMNS.test(text)) return undefined;
    this.runs.delete(text);
    this.names.set(text, `earshot_${this.names.size}`);
    return this.names.get(text);
  }
}
