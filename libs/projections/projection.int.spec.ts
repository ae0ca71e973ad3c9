import fc from 'fast-check';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from '#testing';
import {
  applyInOrder,
  forgetPositions,
  positionsOf,
  type ProjectedMessage,
  type Projection,
  type Verdict,
} from './projection.js';

let stores: IsolatedStores;
let database: Database;

const log: Projection = {
  name: 'log',
  stream: 'KEYWORDS',
  async apply(tx, messages) {
    for (const { subject, seq } of messages)
      await tx.query('INSERT INTO applied (subject, seq) VALUES ($1, $2)', [subject, seq]);
  },
};

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 2);
  await database.query(
    'CREATE TABLE applied (position int GENERATED ALWAYS AS IDENTITY, subject text NOT NULL, seq int NOT NULL)',
  );
});
beforeEach(forget);
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

async function forget(): Promise<void> {
  await database.query('TRUNCATE applied');
  await database.query('DELETE FROM projection_positions');
}

function apply(messages: readonly ProjectedMessage[], projection = log): Promise<Verdict[]> {
  return database.transaction((tx) => applyInOrder(tx, projection, messages));
}

function message(subject: string, seq: number, predecessor = 0): ProjectedMessage {
  return { subject, seq, predecessor, data: new Uint8Array() };
}

async function applied(): Promise<string[]> {
  const rows: { step: string }[] = await database.query(
    `SELECT subject || ' ' || seq AS step FROM applied ORDER BY position`,
  );
  return rows.map(({ step }) => step);
}

/** Generates messages on the subjects `a` to `c`, numbered in one sequence, as in a stream. */
const stream = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 })
  .map((subjects) =>
    subjects.map((subject, n) => message(subject, n + 1, subjects.lastIndexOf(subject, n - 1) + 1)),
  )
  // For the first message, lastIndexOf(…, -1) starts at the last element and can find a wrong predecessor.
  .map(([first, ...rest]) => [{ ...first!, predecessor: 0 }, ...rest]);

it('a projection applies each message once, in the order of its subject, for random batches with repetitions and gaps', async () => {
  const runs = fc.record({
    messages: stream,
    batches: fc.array(fc.array(fc.nat(11), { minLength: 1, maxLength: 8 }), { maxLength: 6 }),
    several: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(runs, async ({ messages, batches, several }) => {
      await forget();
      const projection = { ...log, severalOfSubject: several };
      const position = new Map<string, number>();
      const expected: string[] = [];
      for (const batch of [...batches, messages.map((_, n) => n)]) {
        const given = [...new Set(batch)].toSorted((a, b) => a - b).flatMap((n) => messages[n] ?? []);
        const verdicts = given.map(({ subject, seq, predecessor }): Verdict => {
          const at = position.get(subject) ?? 0;
          if (seq <= at) return 'known';
          if (predecessor > at) return 'early';
          position.set(subject, seq);
          expected.push(`${subject} ${seq}`);
          return 'applied';
        });
        expect(await apply(given, projection)).toEqual(verdicts);
        const stored = await positionsOf(database.manager, log.name, ['a', 'b', 'c']);
        for (const subject of ['a', 'b', 'c'])
          expect(stored.get(subject) ?? 0).toBe(position.get(subject) ?? 0);
      }
      expect((await applied()).toSorted()).toEqual(expected.toSorted());
      for (const subject of ['a', 'b', 'c']) {
        const own = (steps: string[]) => steps.filter((step) => step.startsWith(subject));
        expect(own(await applied())).toEqual(own(expected));
      }
    }),
    { numRuns: 60 },
  );
});

it('a projection fails because of an unreadable message only if it would apply the message', async () => {
  const strict: Projection = {
    ...log,
    read({ seq }) {
      if (seq === 2) throw new Error('message 2 cannot be read');
    },
  };
  await apply([message('a', 1), message('a', 2, 1)]);
  expect(await apply([message('a', 2, 1), message('a', 3, 2)], strict)).toEqual(['known', 'applied']);
  expect(await apply([message('b', 2, 1)], strict)).toEqual(['early']);
  expect(await apply([message('c', 2)], { ...strict, version: 9 })).toEqual(['other-version']);
  await expect(apply([message('c', 2)], strict)).rejects.toThrow('message 2 cannot be read');
});

it('a projection stores no position of a batch whose rows could not be written', async () => {
  const failing: Projection = { ...log, apply: (tx) => tx.query('SELECT 1 / 0') };
  await expect(apply([message('a', 1), message('b', 2)], failing)).rejects.toMatchObject({ code: '22012' });
  expect(await positionsOf(database.manager, log.name, ['a', 'b'])).toEqual(new Map());
  expect(await apply([message('a', 1), message('b', 2)])).toEqual(['applied', 'applied']);
});

it('`apply` gets each message with the last applied sequence of its subject, even if the caller passes 0', async () => {
  const seen: [string, number, number][] = [];
  const recording: Projection = {
    ...log,
    async apply(_, messages) {
      for (const { subject, seq, predecessor } of messages) seen.push([subject, predecessor, seq]);
    },
  };
  await apply([message('a', 1), message('b', 2), message('a', 3)], recording);
  await apply([message('a', 4), message('c', 5)], recording);
  expect(seen).toEqual([
    ['a', 0, 1],
    ['b', 0, 2],
    ['a', 1, 3],
    ['a', 3, 4],
    ['c', 0, 5],
  ]);
});

it('an unordered projection also applies messages up to its position, marked with `again`, and keeps the position', async () => {
  const seen: [number, boolean][] = [];
  const unordered: Projection = {
    ...log,
    unordered: true,
    severalOfSubject: true,
    async apply(_, messages) {
      for (const { seq, again = false } of messages) seen.push([seq, again]);
    },
  };
  expect(await apply([message('a', 2), message('a', 4)], unordered)).toEqual(['applied', 'applied']);
  expect(await apply([message('a', 1), message('a', 4), message('a', 5)], unordered)).toEqual([
    'applied',
    'applied',
    'applied',
  ]);
  expect(seen).toEqual([
    [2, false],
    [4, false],
    [1, true],
    [4, true],
    [5, false],
  ]);
  expect(await positionsOf(database.manager, log.name, ['a'])).toEqual(new Map([['a', 5]]));
});

it('a projection deletes only the positions of the given subjects, in which `*` matches any text', async () => {
  const subjects = ['a.1.x', 'a.2.x', 'a_1.x', 'ab1.x', 'a%.x', 'a\\.x', 'a.x'];
  await apply(subjects.map((subject, n) => message(subject, n + 1)));
  await database.transaction((tx) => forgetPositions(tx, log, ['a.*.x', 'a_1.x', 'a%.x', 'a\\.x']));
  expect([...(await positionsOf(database.manager, 'log', subjects)).keys()].toSorted()).toEqual([
    'a.x',
    'ab1.x',
  ]);
});

it('a projection applies each message once if two replicas get the same batches at the same time', async () => {
  const subjects = Array.from({ length: 40 }, (_, n) => `subject${n}`);
  const batch = subjects.map((subject, n) => message(subject, n + 1));
  const both = await Promise.all([apply(batch), apply(batch.toReversed())]);
  expect(await applied()).toHaveLength(40);
  expect(both.flat().filter((verdict) => verdict === 'applied')).toHaveLength(40);
  expect(both.flat().filter((verdict) => verdict === 'known')).toHaveLength(40);
});

it('a projection applies no message, and returns `other-version`, if the tables have another version', async () => {
  expect(await apply([message('a', 1)], { ...log, version: 2 })).toEqual(['other-version']);
  expect(await applied()).toEqual([]);
});
