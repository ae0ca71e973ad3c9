import { newId, Outage } from '#kernel';
import { fakeOnly } from '#testing';
import { execute } from './execute.js';
import { tallies, tally } from './testing/tallies.js';
import { TallyScene } from './testing/tally-scene.js';

/** More commands than a process has connections to Postgres. */
const COMMANDS = 20;
const CONNECTIONS = 8;

const scene = new TallyScene();

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.begin());
afterEach(() => jest.useRealTimers());

describe('a command', () => {
  it('does not wait for many commands of another account', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const [accountId, id] = [newId(), newId()];
    const others = Array.from({ length: COMMANDS }, () =>
      execute(scene.database, scene.store, {
        aggregate: tally,
        projection: tallies,
        accountId,
        subjectTokens: [id],
        commandId: newId(),
        async decide() {
          await released;
          return [{ amount: 1 }];
        },
        decisionOf: (events) => ({ commandId: newId(), id, events }),
      }),
    );
    expect(await scene.add(3)).toBe(3);
    release();
    expect((await Promise.all(others)).at(-1)).toBe(COMMANDS);
  });

  it('is not executed if it waited more than 5 s for a connection to Postgres', async () => {
    const others = Array.from({ length: CONNECTIONS }, () => scene.database.createQueryRunner());
    await Promise.all(others.map((other) => other.connect()));
    jest.useFakeTimers(fakeOnly('performance'));
    const refused = expect(scene.add(3)).rejects.toThrow(Outage);
    // The command begins to wait for a connection.
    await new Promise(setImmediate);
    jest.advanceTimersByTime(5500);
    await Promise.all(others.map((other) => other.release()));
    await refused;
    expect(await scene.stored()).toEqual([]);
  });

  it('is executed if an earlier command of its account was refused', async () => {
    const [refused, accepted] = await Promise.allSettled([scene.add(101), scene.add(3)]);
    expect([refused.status, accepted.status]).toEqual(['rejected', 'fulfilled']);
  });
});
