import PQueue from 'p-queue';
import { within } from '#kernel';
import { isOutage } from '#outages';

/** Maximum number of values in one write. */
const MAX_VALUES = 100;
/** The next write does not wait longer than this, in ms, because a connection to Postgres can hang for minutes. */
const MAX_WAIT_MS = 2000;
/** Maximum number of writes that hang. The next write then waits, so that connections are left for other requests. */
const MAX_HANGING = 2;

interface Waiting<T> {
  value: T;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Writes values, one write after the other, except if a write hangs. The values that arrive during a write wait for it,
 * and are written together afterwards. In this way, many concurrent values need only a few statements and commits, and
 * a single value does not wait.
 */
export class GroupedWrites<T> {
  private readonly waiting: Waiting<T>[] = [];
  private readonly writes = new PQueue({ concurrency: 1 });
  private hanging = 0;

  /** @param write stores all the values or none of them */
  constructor(private readonly write: (values: readonly T[]) => Promise<unknown>) {}

  /** Resolves when the value is stored. @throws the error of the write that failed to store this value */
  add(value: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ value, resolve, reject });
      void this.writes.add(() => this.writeInTurn());
    });
  }

  private async writeInTurn(): Promise<void> {
    const write = this.writeWaiting();
    if (this.hanging === MAX_HANGING) return write;
    if (await within(MAX_WAIT_MS, write)) return;
    this.hanging += 1;
    void write.finally(() => (this.hanging -= 1));
  }

  private async writeWaiting(): Promise<void> {
    const group = this.waiting.splice(0, MAX_VALUES);
    if (group.length === 0) return;
    const error = await this.writeGroup(group);
    if (!error) return;
    if (group.length > 1 && !isOutage(error.value)) await this.writeEach(group);
    else reject(group, error.value);
  }

  /** Writes each value alone, so that a value that cannot be stored does not affect the others. */
  private async writeEach(group: readonly Waiting<T>[]): Promise<void> {
    for (const [n, one] of group.entries()) {
      const error = await this.writeGroup([one]);
      if (!error) continue;
      // During an outage, no value can be stored.
      if (isOutage(error.value)) return reject(group.slice(n), error.value);
      one.reject(error.value);
    }
  }

  /** @returns the error if the group could not be stored */
  private async writeGroup(group: readonly Waiting<T>[]): Promise<{ value: unknown } | undefined> {
    try {
      await this.write(group.map(({ value }) => value));
    } catch (error) {
      return { value: error };
    }
    for (const { resolve } of group) resolve();
    return undefined;
  }
}

function reject<T>(group: readonly Waiting<T>[], error: unknown): void {
  for (const one of group) one.reject(error);
}
