import { readFileSync } from 'node:fs';
import { identify, identifySelf, isRunning } from './process-identity.js';

/** Returns false for an ordinary user if `/proc` hides the processes of other users. */
function canReadFirst(): boolean {
  try {
    return readFileSync('/proc/1/stat').length > 0;
  } catch {
    return process.platform !== 'linux';
  }
}

describe('the identity of a process', () => {
  (canReadFirst() ? it : it.skip)(
    'is known for process 1, because Earshot is process 1 of a container',
    () => {
      const first = identify(1);
      expect(first?.pid).toBe(1);
      expect(first && isRunning(first)).toBe(true);
    },
  );

  it('is the same only for the same start of a process', () => {
    const self = identifySelf();
    expect(isRunning(self)).toBe(true);
    expect(isRunning({ ...self, startedAt: 'another start' })).toBe(false);
  });

  it.each([0, -1, 1.5, NaN])('is unknown for %s, which is no process id', (pid) => {
    expect(identify(pid)).toBeUndefined();
  });
});
