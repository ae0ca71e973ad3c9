import { setTimeout as wait } from 'node:timers/promises';

/** What is repeated, how often, and how errors are reported. */
export interface Repetition {
  /** Between the end of a run and the begin of the next, in ms. */
  pauseMs: number;
  /** @returns true when there is more to do: the next run begins without a pause */
  run(signal: AbortSignal): Promise<boolean | void>;
  /** Gets what a run threw; the next run comes after the pause. */
  failed(error: unknown): void;
}

/** Repeats a piece of work, one run at a time, until it is stopped. The first run begins at once. */
export class Repeated {
  private readonly abort = new AbortController();
  private finished: Promise<void> = Promise.resolve();

  constructor(private readonly repetition: Repetition) {}

  start(): void {
    this.finished = this.repeat();
  }

  /** Ends a pause, and waits for the run that is under way. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.finished;
  }

  private async repeat(): Promise<void> {
    const { signal } = this.abort;
    const { pauseMs, run, failed } = this.repetition;
    while (!signal.aborted) {
      const hasMore = await run(signal).catch(failed);
      // Aborted is how a pause ends early; it keeps no process alive.
      if (hasMore !== true) await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
