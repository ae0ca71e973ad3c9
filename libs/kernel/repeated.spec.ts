import { setImmediate } from 'node:timers/promises';
import { Repeated } from './repeated.js';

/** Repeats the work until run number `last`, which stops the repetition. @returns the errors that were reported */
async function failuresOf(
  last: number,
  run: (n: number) => boolean | void,
  pauseMs: number,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  await new Promise<void>((resolve) => {
    let n = 0;
    const repeated = new Repeated({
      pauseMs,
      run: async () => {
        n += 1;
        if (n === last) {
          resolve();
          void repeated.stop();
        }
        return run(n);
      },
      failed: (error) => failures.push(error),
    });
    repeated.start();
  });
  return failures;
}

describe('repeated work', () => {
  it('repeats immediately while a run reports that there is more work', async () => {
    expect(await failuresOf(5, () => true, 3_600_000)).toEqual([]);
  });

  it('continues after a failed run, and reports it', async () => {
    const error = new Error('the store is unreachable');
    const failing = (n: number) => {
      if (n === 1) throw error;
    };
    expect(await failuresOf(2, failing, 1)).toEqual([error]);
  });

  it('runs only once if it is stopped during the pause of one hour after the first run', async () => {
    let count = 0;
    const repeated = new Repeated({
      pauseMs: 3_600_000,
      run: async () => void (count += 1),
      failed: () => {},
    });
    repeated.start();
    await setImmediate();
    await repeated.stop();
    expect(count).toBe(1);
  });

  it('waits at a stop for the current run, which receives the abort signal', async () => {
    let release = () => {};
    let seen: AbortSignal | undefined;
    const repeated = new Repeated({
      pauseMs: 1,
      run: (signal) => {
        seen = signal;
        return new Promise<void>((resolve) => (release = resolve));
      },
      failed: () => {},
    });
    repeated.start();
    let isStopped = false;
    const stopped = repeated.stop().then(() => (isStopped = true));
    await Promise.resolve();
    expect([seen?.aborted, isStopped]).toEqual([true, false]);
    release();
    await stopped;
    expect(isStopped).toBe(true);
  });
});
