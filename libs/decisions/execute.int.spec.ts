import type { JsMsg } from '@nats-io/jetstream';
import { EventStore } from '#event-store';
import { newId, Refusal } from '#kernel';
import { connectBus, runDurable, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { applyBatch, consumerOf, type Projection } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { execute, type Aggregate } from './execute.js';

const log = createLogger('spec', 'silent');
let stores: IsolatedStores;
let bus: Bus;
let store: EventStore;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', log);
  store = new EventStore(bus);
  database = await openDatabase(stores.databaseUrl, 'spec');
  await database.query(
    'CREATE TABLE tallies (id text PRIMARY KEY, total integer NOT NULL, notes text NOT NULL)',
  );
});
afterAll(async () => {
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

interface Added {
  amount: number;
}
interface Adding {
  commandId: string;
  id: string;
  events: Added[];
}

/** A tally. Commands add amounts of at most 100. */
const tally: Aggregate<number, Added, Adding> = {
  stream: 'KEYWORDS',
  initial: 0,
  evolve: (total, { amount }) => total + amount,
  decode: (data) => JSON.parse(new TextDecoder().decode(data)) as Adding,
  encode: (decision) => new TextEncoder().encode(JSON.stringify(decision)),
};

const tallies: Projection = {
  name: 'tallies-v1',
  stream: 'KEYWORDS',
  async apply(tx, messages) {
    expect(new Set(messages.map((message) => message.subject)).size).toBe(messages.length);
    for (const { data } of messages) {
      const { id, events } = tally.decode(data);
      for (const { amount } of events)
        await tx.query(
          `INSERT INTO tallies VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE
           SET total = tallies.total + $2, notes = tallies.notes || ' ' || $3`,
          [id, amount, String(amount)],
        );
    }
  },
};

let accountId: string;
let id: string;

beforeEach(() => {
  accountId = newId();
  id = newId();
});

function add(amount: number, commandId = newId(), aggregate = tally): Promise<number> {
  return execute(database, store, {
    aggregate,
    projection: tallies,
    accountId,
    subjectTokens: [id],
    commandId,
    decide(total) {
      if (total + amount > 100) throw Refusal.conflict('too much');
      return amount === 0 ? [] : [{ amount }];
    },
    decisionOf: (events) => ({ commandId, id, events }),
  });
}

const subject = () => subjectOf('KEYWORDS', accountId, id);
const stored = async () =>
  (await store.read('KEYWORDS', subject())).flatMap(({ data }) =>
    tally.decode(data).events.map(({ amount }) => amount),
  );

async function row(): Promise<{ total: number; notes: string } | undefined> {
  const rows: { total: number; notes: string }[] = await database.query(
    'SELECT total, notes FROM tallies WHERE id = $1',
    [id],
  );
  return rows[0];
}

/** Appends without updating the tables, like a process that dies in between. */
async function appendAndDie(amount: number, commandId = newId()): Promise<void> {
  const last = await store.lastSeq('KEYWORDS', subject());
  await store.append(subject(), tally.encode({ commandId, id, events: [{ amount }] }), last, commandId);
}

/** The messages of the subject in the form that a consumer gets. */
async function messages(): Promise<JsMsg[]> {
  const consumer = await bus.js.consumers.get('KEYWORDS', { filter_subjects: subject() });
  const waiting = (await consumer.info()).num_pending;
  const found: JsMsg[] = [];
  while (found.length < waiting) {
    const message = await consumer.next();
    if (message) found.push(message);
  }
  return found;
}

describe('executing a command', () => {
  it('stores the decision, makes it visible at once, and returns the new state', async () => {
    expect(await add(3)).toBe(3);
    expect(await row()).toEqual({ total: 3, notes: '3' });
    expect(await add(4)).toBe(7);
    expect(await row()).toEqual({ total: 7, notes: '3 4' });
    expect(await stored()).toEqual([3, 4]);
  });

  it('changes nothing when the same command is repeated', async () => {
    const commandId = newId();
    expect(await add(3, commandId)).toBe(3);
    await add(4);
    expect(await add(3, commandId)).toBe(7);
    expect(await add(90, commandId)).toBe(7);
    expect(await stored()).toEqual([3, 4]);
  });

  it('changes once when the same command arrives twice at the same time', async () => {
    const commandId = newId();
    await Promise.all([add(3, commandId), add(3, commandId), add(3, commandId)]);
    expect([await stored(), await row()]).toEqual([[3], { total: 3, notes: '3' }]);
  });

  it('stores nothing when the command changes nothing or is refused', async () => {
    expect(await add(0)).toBe(0);
    await expect(add(101)).rejects.toThrow('too much');
    expect([await stored(), await row()]).toEqual([[], undefined]);
  });

  it('decides each of many concurrent commands on the state after the previous one', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => add(10)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(10);
    expect((await stored()).length).toBe(10);
    expect((await row())?.total).toBe(100);
  });

  it('decides again when another writer appended without the lock', async () => {
    await add(1);
    let interfered = false;
    const total = await execute(database, store, {
      aggregate: tally,
      projection: tallies,
      accountId,
      subjectTokens: [id],
      commandId: newId(),
      async decide() {
        if (!interfered) await appendAndDie(5);
        interfered = true;
        return [{ amount: 10 }];
      },
      decisionOf: (events) => ({ commandId: newId(), id, events }),
    });
    expect(total).toBe(16);
    expect(await row()).toEqual({ total: 16, notes: '1 5 10' });
  });

  it('is refused as a conflict when other writers keep changing the subject', async () => {
    const refusal = await execute(database, store, {
      aggregate: tally,
      projection: tallies,
      accountId,
      subjectTokens: [id],
      commandId: newId(),
      async decide() {
        await appendAndDie(1);
        return [{ amount: 10 }];
      },
      decisionOf: (events) => ({ commandId: newId(), id, events }),
    }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'conflict', code: 'CONFLICT' });
  });

  it('repairs the table with the next command after a crash between append and table', async () => {
    await add(1);
    await appendAndDie(2);
    expect(await row()).toEqual({ total: 1, notes: '1' });
    expect(await add(4)).toBe(7);
    expect(await row()).toEqual({ total: 7, notes: '1 2 4' });
  });

  it.each([
    ['refuses', () => Promise.reject(Refusal.notFound('tally'))],
    ['has nothing to do', () => Promise.resolve([])],
  ])(
    'decides on what is stored although the table has nothing of it, and a new subject %s',
    async (_, ofNew) => {
      await appendAndDie(5);
      const commandId = newId();
      const total = await execute(database, store, {
        aggregate: tally,
        projection: tallies,
        accountId,
        subjectTokens: [id],
        commandId,
        decide: (before): Promise<Added[]> => (before === 0 ? ofNew() : Promise.resolve([{ amount: 1 }])),
        decisionOf: (events) => ({ commandId, id, events }),
      });
      expect([total, await stored(), await row()]).toEqual([6, [5, 1], { total: 6, notes: '5 1' }]);
    },
  );

  it('finds a command that was stored before a crash, and does not execute it again', async () => {
    const commandId = newId();
    await appendAndDie(2, commandId);
    expect(await add(2, commandId)).toBe(2);
    expect([await stored(), await row()]).toEqual([[2], { total: 2, notes: '2' }]);
  });
});

describe('a projection', () => {
  const apply = (batch: readonly JsMsg[]) => applyBatch(database, tallies, batch);

  it('repairs the table through its durable consumer after a crash between append and table', async () => {
    await add(1);
    await appendAndDie(2);
    const running = await runDurable(bus, { ...consumerOf(tallies), handle: apply }, log);
    await until('the table has followed', async () => (await row())?.total === 3);
    await running.stop();
    expect(await row()).toEqual({ total: 3, notes: '1 2' });
  });

  it('refuses a decision that is too large for a message, and appends nothing', async () => {
    await add(1);
    const large = { ...tally, encode: () => new Uint8Array(900 * 1024 + 1) };
    await expect(add(2, newId(), large)).rejects.toMatchObject({
      kind: 'too-large',
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await row()).toEqual({ total: 1, notes: '1' });
  });

  it('changes nothing when a batch is delivered twice', async () => {
    for (const amount of [1, 2, 3]) await appendAndDie(amount);
    const batch = await messages();
    const outcomes = [await apply(batch), await apply(batch), await apply([...batch, ...batch])];
    expect(outcomes.flat().every(({ kind }) => kind === 'done')).toBe(true);
    expect(await row()).toEqual({ total: 6, notes: '1 2 3' });
  });

  it('applies a batch in order, for any order of its delivery', async () => {
    for (const amount of [1, 2, 3]) await appendAndDie(amount);
    const batch = await messages();
    await apply([...batch].reverse());
    expect(await row()).toEqual({ total: 6, notes: '1 2 3' });
  });

  it('applies messages of several subjects together, each subject in its order', async () => {
    const ids = [newId(), newId()];
    const batch: JsMsg[] = [];
    for (id of ids) {
      for (const amount of [1, 2, 3]) await appendAndDie(amount);
      batch.push(...(await messages()));
    }
    const [last] = batch.splice(-1);
    expect((await apply(batch.reverse())).map(({ kind }) => kind)).toEqual(batch.map(() => 'done'));
    expect((await apply([...batch, last as JsMsg])).map(({ kind }) => kind)).toEqual(
      [...batch, last].map(() => 'done'),
    );
    for (id of ids) expect(await row()).toEqual({ total: 6, notes: '1 2 3' });
  });

  it('waits for a command that has appended and not yet applied', async () => {
    let batch: JsMsg[] = [];
    let waiting: Promise<unknown> | undefined;
    const slow: Projection = {
      ...tallies,
      async apply(tx, given) {
        batch = await messages();
        waiting ??= apply(batch);
        await until('the consumer waits', async () => {
          const rows: unknown[] = await database.query(
            `SELECT 1 FROM pg_stat_activity WHERE application_name = 'earshot-spec' AND wait_event_type = 'Lock'`,
          );
          return rows.length > 0;
        });
        return tallies.apply(tx, given);
      },
    };
    const commandId = newId();
    await execute(database, store, {
      aggregate: tally,
      projection: slow,
      accountId,
      subjectTokens: [id],
      commandId,
      decide: () => [{ amount: 4 }],
      decisionOf: (events) => ({ commandId, id, events }),
    });
    expect(await waiting).toMatchObject([{ kind: 'done' }]);
    expect([batch.length, await row()]).toEqual([1, { total: 4, notes: '4' }]);
  });

  it('delays a message that arrives before its predecessor', async () => {
    for (const amount of [1, 2]) await appendAndDie(amount);
    const [first, second] = (await messages()) as [JsMsg, JsMsg];
    expect((await apply([second])).map(({ kind }) => kind)).toEqual(['retry']);
    expect(await row()).toBeUndefined();
    expect((await apply([first])).map(({ kind }) => kind)).toEqual(['done']);
    expect((await apply([second])).map(({ kind }) => kind)).toEqual(['done']);
    expect(await row()).toEqual({ total: 3, notes: '1 2' });
  });

  it('writes a batch completely or not at all', async () => {
    await appendAndDie(1);
    const batch = await messages();
    const broken: Projection = {
      ...tallies,
      name: 'tallies-broken',
      apply: () => Promise.reject(new Error('broken')),
    };
    await expect(applyBatch(database, broken, batch)).rejects.toThrow('broken');
    const rows: unknown[] = await database.query('SELECT 1 FROM projection_positions WHERE projection = $1', [
      broken.name,
    ]);
    expect(rows).toEqual([]);
  });
});
