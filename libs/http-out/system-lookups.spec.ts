import { fakeOnly } from '#testing';
import { CONNECT_TIMEOUT_MS } from './connect-timeout.js';
import { MAX_WAITING, SystemLookups, UNKNOWN_MS } from './system-lookups.js';

/** Lookups of the operating system that have begun, and end when the test ends them. */
class System {
  readonly asked: string[] = [];
  private readonly running = new Map<string, (outcome: string[] | Error) => void>();

  readonly lookUp = (name: string): Promise<string[]> => {
    this.asked.push(name);
    return new Promise((resolve, reject) => {
      this.running.set(name, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });
  };

  /** Ends the lookup of the name, and lets the next one begin. */
  async end(name: string, outcome: string[] | Error): Promise<void> {
    this.running.get(name)?.(outcome);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let system: System;
let lookups: SystemLookups;

beforeEach(() => {
  jest.useFakeTimers(fakeOnly('setTimeout', 'clearTimeout', 'performance'));
  // The cache of unknown names treats the time 0 like a missing time.
  jest.advanceTimersByTime(1);
  system = new System();
  lookups = new SystemLookups(system.lookUp);
});
afterEach(() => void jest.useRealTimers());

/** Asks for the addresses. Returns them, or the code of the error. */
const ask = (name: string) =>
  lookups.addressesOf(name).catch((error: NodeJS.ErrnoException) => error.code ?? error.message);

/** Looks the name up once, so that it counts as a name that the operating system has known. */
async function makeKnown(name: string, addresses: string[]): Promise<void> {
  const answer = ask(name);
  await system.end(name, addresses);
  expect(await answer).toEqual(addresses);
  system.asked.length = 0;
}

describe('lookups of the operating system', () => {
  it('run one after the other', async () => {
    const answers = [ask('a.local'), ask('b.local')];
    expect(system.asked).toEqual(['a.local']);
    await system.end('a.local', ['10.0.0.1']);
    expect(system.asked).toEqual(['a.local', 'b.local']);
    await system.end('b.local', ['10.0.0.2']);
    expect(await Promise.all(answers)).toEqual([['10.0.0.1'], ['10.0.0.2']]);
  });

  it('run only once for several requests that wait for the same name', async () => {
    const answers = [ask('a.local'), ask('A.local'), ask('b.local'), ask('b.local')];
    await system.end('a.local', ['10.0.0.1']);
    await system.end('b.local', ['10.0.0.2']);
    expect(await Promise.all(answers)).toEqual([['10.0.0.1'], ['10.0.0.1'], ['10.0.0.2'], ['10.0.0.2']]);
    expect(system.asked).toEqual(['a.local', 'b.local']);
  });

  it('report a failure to all waiting requests, and run again for the next request', async () => {
    const answers = [ask('a.local'), ask('a.local')];
    await system.end('a.local', new Error('EAI_FAIL'));
    expect(await Promise.all(answers)).toEqual(['EAI_FAIL', 'EAI_FAIL']);
    void ask('a.local');
    expect(system.asked).toEqual(['a.local', 'a.local']);
  });

  it('fail with a timeout if they do not end within the time limit of a connection', async () => {
    const running = ask('a.local');
    const waiting = ask('b.local');
    jest.advanceTimersByTime(CONNECT_TIMEOUT_MS);
    expect([await running, await waiting]).toEqual(['ETIMEDOUT', 'ETIMEDOUT']);
  });

  it('do not begin for names whose requests have all ended', async () => {
    const answers = [ask('slow.local'), ask('ended.local'), ask('both.local')];
    jest.advanceTimersByTime(CONNECT_TIMEOUT_MS - 1);
    const late = ask('both.local');
    jest.advanceTimersByTime(1);
    expect(await Promise.all(answers)).toEqual(['ETIMEDOUT', 'ETIMEDOUT', 'ETIMEDOUT']);
    await system.end('slow.local', []);
    expect(system.asked).toEqual(['slow.local', 'both.local']);
    await system.end('both.local', ['10.0.0.1']);
    expect(await late).toEqual(['10.0.0.1']);
  });

  it('fail immediately while too many names wait', async () => {
    void ask('running.local');
    for (let n = 0; n < MAX_WAITING; n += 1) void ask(`n${n}.local`);
    expect(await ask('further.local')).toBe('EAI_AGAIN');
    await expect(lookups.addressesOf('further.local')).rejects.toThrow(
      `further.local: ${MAX_WAITING} other names wait for the operating system; try again later`,
    );
    await system.end('running.local', []);
    const accepted = ask('further.local');
    expect(await ask('another.local')).toBe('EAI_AGAIN');
    for (let n = 0; n < MAX_WAITING; n += 1) await system.end(`n${n}.local`, []);
    await system.end('further.local', ['10.0.0.1']);
    expect(await accepted).toEqual(['10.0.0.1']);
  });
});

describe('an unknown name', () => {
  it('is not looked up again for a minute', async () => {
    const first = ask('a.local');
    await system.end('a.local', []);
    expect([await first, await ask('a.local')]).toEqual([[], []]);
    jest.advanceTimersByTime(UNKNOWN_MS + 1);
    void ask('a.local');
    expect(system.asked).toEqual(['a.local', 'a.local']);
  });

  it('is remembered even if its request timed out before its lookup ended', async () => {
    const first = ask('a.local');
    jest.advanceTimersByTime(CONNECT_TIMEOUT_MS);
    expect(await first).toBe('ETIMEDOUT');
    await system.end('a.local', []);
    expect(await ask('a.local')).toEqual([]);
    expect(system.asked).toEqual(['a.local']);
  });
});

describe('a name that the operating system has known', () => {
  it('does not wait for unknown names, even if too many of them wait', async () => {
    await makeKnown('printer.local', ['10.0.0.1']);
    for (let n = 0; n <= MAX_WAITING; n += 1) void ask(`n${n}.local`);
    const answer = ask('printer.local');
    expect(system.asked).toEqual(['n0.local', 'printer.local']);
    await system.end('printer.local', ['10.0.0.2']);
    expect(await answer).toEqual(['10.0.0.2']);
  });

  it('is looked up, no matter how many other known names wait', async () => {
    const names = Array.from({ length: MAX_WAITING + 2 }, (_, n) => `n${n}.local`);
    for (const name of names) await makeKnown(name, ['10.0.0.1']);
    const answers = names.map(ask);
    for (const name of names) await system.end(name, ['10.0.0.2']);
    expect(new Set((await Promise.all(answers)).map(String))).toEqual(new Set(['10.0.0.2']));
  });

  it.each([
    ['is unknown now', [], UNKNOWN_MS + 1],
    ['cannot be looked up now', new Error('EAI_AGAIN'), 0],
  ])('waits in the same queue as unknown names if it %s', async (_, outcome, waitMs) => {
    await makeKnown('printer.local', ['10.0.0.1']);
    void ask('printer.local');
    await system.end('printer.local', outcome);
    jest.advanceTimersByTime(waitMs);
    void ask('other.local');
    void ask('printer.local');
    expect(system.asked).toEqual(['printer.local', 'other.local']);
    await system.end('other.local', []);
    expect(system.asked).toEqual(['printer.local', 'other.local', 'printer.local']);
  });
});
