import { setTimeout as wait } from 'node:timers/promises';

/** Calls of `has` within this time share a statement, because the loops of a process ask at nearly the same moment. */
const TOGETHER_MS = 5;

/**
 * Finds out for loops whether there is work for a name (a lane or a source). One statement serves all loops that ask at
 * nearly the same time. This saves statements, because each loop asks often, and usually there is no work.
 */
export class SharedQuery {
  private batch: Batch | undefined;

  /** @param read returns the names that have work */
  constructor(private readonly read: (names: string[]) => Promise<string[]>) {}

  /** Returns true if there is work for this name. */
  async has(name: string): Promise<boolean> {
    const batch = (this.batch ??= this.begin());
    batch.names.add(name);
    return (await batch.found).has(name);
  }

  private begin(): Batch {
    const names = new Set<string>();
    return { names, found: this.ask(names) };
  }

  private async ask(names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    await wait(TOGETHER_MS);
    this.batch = undefined;
    return new Set(await this.read([...names]));
  }
}

/** The names that share a statement, and the promise of those names that have work. */
interface Batch {
  names: Set<string>;
  found: Promise<ReadonlySet<string>>;
}
