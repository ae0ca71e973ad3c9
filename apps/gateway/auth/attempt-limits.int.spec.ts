import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import type { Database } from '#postgres';
import { createLogger } from '#telemetry';
import { type SpecDatabase, openSpecDatabase, until } from '#testing';
import { AttemptLimits } from './attempt-limits.js';

const FLOOD = 700;

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());
beforeEach(() => database.query('DELETE FROM auth_attempts'));

/** Returns the result of an attempt: `counted`, or the refusal and the seconds to wait. */
async function signIn(attempts: AttemptLimits, email: string, ip: string) {
  const headers: Record<string, unknown> = {};
  const reply = { header: (name: string, value: unknown) => (headers[name] = value) };
  try {
    await attempts.begin('sign-in', email, { ip } as FastifyRequest, reply as unknown as FastifyReply);
    return { outcome: 'counted' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { outcome: error.kind, message: error.message, retryAfter: headers['retry-after'] };
  }
}

describe('a flood of sign-ins with many email addresses from one client', () => {
  it('is refused after 60 sign-ins, and delays people of other networks only while 500 attempts wait', async () => {
    const attempts = new AttemptLimits(database, createLogger('spec', 'silent'));
    const transactions = jest.spyOn(database, 'transaction');
    const flood = Promise.all(
      Array.from({ length: FLOOD }, (_, n) => signIn(attempts, `n${n}@example.org`, '192.0.2.1')),
    );
    const during = await signIn(attempts, 'ada@example.org', '198.51.100.7');
    const outcomes = (await flood).map(({ outcome }) => outcome);
    const reached = transactions.mock.calls.length;
    transactions.mockRestore();

    expect(outcomes.filter((outcome) => outcome === 'counted')).toHaveLength(60);
    expect(new Set(outcomes)).toEqual(new Set(['counted', 'too-many', 'unavailable']));
    expect(reached).toBeLessThan(70);
    // While 500 attempts wait, the next attempt gets a 503. If it is repeated a moment later, it is counted.
    expect(during).toMatchObject({
      outcome: 'unavailable',
      message: 'too many attempts at the same time; try again in a few seconds',
    });
    expect(await signIn(attempts, 'ada@example.org', '198.51.100.7')).toEqual({ outcome: 'counted' });
  });

  it('delays a person of the same network only until the time that the refusal states', async () => {
    const attempts = new AttemptLimits(database, createLogger('spec', 'silent'));
    for (let n = 0; n < 60; n += 1) await signIn(attempts, `n${n}@example.org`, '192.0.2.1');
    const refused = await signIn(attempts, 'ada@example.org', '192.0.2.1');
    expect(refused).toEqual({
      outcome: 'too-many',
      message: expect.stringMatching(/^too many attempts; try again in \d+ s$/),
      retryAfter: expect.any(Number),
    });
    expect(refused.retryAfter).toBeGreaterThan(840);
    await database.query(`UPDATE auth_attempts SET at = at - interval '15 minutes'`);
    await until('the person may try again', async () => {
      const { outcome } = await signIn(attempts, 'ada@example.org', '192.0.2.1');
      return outcome === 'counted';
    });
  });
});
