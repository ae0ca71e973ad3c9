import { setTimeout as wait } from 'node:timers/promises';

/** Repeated work, its pause, and the reporting of its errors. */
export interface Repetition {
  /** Pause between the end of a run and the start of the next run, in ms. */
  pauseMs: number;
  /** @returns true if there is more to do: the next run begins without a pause */
  run(signal: AbortSignal): Promise<boolean | void>;
  /** Receives the error of a run. The next run starts after the pause. */
  failed(error: unknown): void;
}

/** Repeats a piece of work, one run at a time, until it is stopped. The first run begins at `start`. */
export class Repeated {
  private readonly abort = new AbortController();
  private finished: Promise<void> = Promise.resolve();

  constructor(private readonly repetition: Repetition) {}

  start(): void {
    this.finished = this.repeat();
  }

  /** Ends the pause, and waits for the current run. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.finished;
  }

  private async repeat(): Promise<void> {
    const { signal } = this.abort;
    const { pauseMs, run, failed } = this.repetition;
    while (!signal.aborted) {
      const hasMore = await run(signal).catch(failed);
      // `stop` aborts the pause: its promise rejects. `ref: false`: a pause does not keep the process alive.
      if (hasMore !== true) await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
