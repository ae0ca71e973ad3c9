import type { JsMsg } from '@nats-io/jetstream';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, runDurable, subjectOf, type Bus, type RunningDurable } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import {
  applyBatch,
  bringToVersion,
  consumerOf,
  rebuildProjection,
  RebuildUnderWay,
  type RebuildableProjection,
} from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { execute } from './execute.js';
import { REBUILDABLE_TABLES, separatorOf, tallies } from './testing/rebuildable-tallies.js';
import { tally } from './testing/tallies.js';

const log = createLogger('spec', 'silent');
let stores: IsolatedStores;
let bus: Bus;
let store: EventStore;
let database: Database;
const running: RunningDurable[] = [];

beforeEach(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', log);
  store = new EventStore(bus);
  database = await openDatabase(stores.databaseUrl, 'spec', 20);
  await database.query(REBUILDABLE_TABLES);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

const accountId = newId();
const subjectOfId = (id: string) => subjectOf('KEYWORDS', accountId, id);

function add(id: string, amount: number, projection: RebuildableProjection): Promise<number> {
  const commandId = newId();
  return execute(database, store, {
    aggregate: tally,
    projection,
    accountId,
    subjectTokens: [id],
    commandId,
    decide: () => [{ amount }],
    decisionOf: (events) => ({ commandId, id, events }),
  });
}

async function follow(projection: RebuildableProjection): Promise<RunningDurable> {
  await bringToVersion(database, bus, projection, log);
  const handle = (batch: readonly JsMsg[]) => applyBatch(database, projection, batch);
  const durable = await runDurable(bus, { ...consumerOf(projection), handle }, log);
  running.push(durable);
  return durable;
}

const amountsOf = async (id: string) =>
  (await store.read('KEYWORDS', subjectOfId(id))).flatMap(({ data }) =>
    tally.decode(data).events.map(({ amount }) => amount),
  );
const rowOf = async (id: string) =>
  (
    await database.query<{ total: number; notes: string; seen: number }[]>(
      'SELECT total, notes, seen FROM tallies WHERE id = $1',
      [id],
    )
  )[0];
const ids = (count: number) => Array.from({ length: count }, () => newId());
const storedVersion = async () =>
  (await database.query<{ version: number }[]>('SELECT version FROM projection_versions'))[0]?.version ?? 1;
const rebuildSchemas = () => database.query(`SELECT 1 FROM pg_namespace WHERE nspname LIKE 'rebuild_%'`);

/** Returns the complete definition of the tables in the catalogue, without object ids. */
const shape = () =>
  database.query(
    `SELECT indexdef AS part FROM pg_indexes WHERE schemaname = 'public' AND tablename IN ('tallies', 'owners')
     UNION ALL SELECT conname::text || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('tallies'::regclass, 'owners'::regclass)
     UNION ALL SELECT relname::text || relpersistence::text || coalesce(relacl::text, '') FROM pg_class WHERE relname IN ('tallies', 'owners')
     UNION ALL SELECT attname::text || atttypid::regtype || coalesce(pg_get_expr(adbin, adrelid), '')
       FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       WHERE attrelid IN ('tallies'::regclass, 'owners'::regclass) AND attnum > 0
     ORDER BY 1`,
  );

describe('a projection whose version changes', () => {
  it('is rebuilt under load: every read is correct, old replicas continue, and nothing is lost', async () => {
    const [old, fresh] = [tallies(1), tallies(2)];
    const subjects = ids(12);
    await follow(old);
    for (const id of subjects) for (let n = 1; n <= 20; n += 1) await add(id, n, old);

    let stopped = false;
    let release = old;
    const wrong: unknown[] = [];
    const confirmed = new Map(subjects.map((id) => [id, 20]));
    const versionsSeen = new Map<string, number>();
    let reads = 0;
    const command = async (id: string) => {
      for (let n = 21; !stopped; n += 1) {
        await add(id, n, release);
        confirmed.set(id, n);
      }
    };
    const read = async () => {
      for (let turn = 0; !stopped; turn += 1) {
        const id = subjects[turn % subjects.length] ?? '';
        const atLeast = confirmed.get(id) ?? 0;
        const seen = versionsSeen.get(id) ?? 1;
        const row = await rowOf(id);
        const all = await amountsOf(id);
        reads += 1;
        // The row must equal what one version computes from the stream up to the last confirmed command, or up to a later
        // message.
        const match = [seen, 2].find((version) =>
          all.some(
            (_, index) =>
              index + 1 >= atLeast && all.slice(0, index + 1).join(separatorOf(version)) === row?.notes,
          ),
        );
        if (match === undefined) wrong.push({ id, row, atLeast, all: all.length });
        else versionsSeen.set(id, Math.max(match, versionsSeen.get(id) ?? 1));
      }
    };
    const load = Promise.all([...subjects.slice(0, 4).map(command), read(), read()]);

    await follow(fresh);
    expect(await storedVersion()).toBe(2);
    const atSwitch = Math.min(...subjects.slice(0, 4).map((id) => confirmed.get(id) ?? 0));
    await until('old replicas have carried out commands on the new tables', () =>
      Promise.resolve(subjects.slice(0, 4).every((id) => (confirmed.get(id) ?? 0) > atSwitch + 3)),
    );
    await running.shift()?.stop();
    release = fresh;
    const handedOver = new Map(confirmed);
    await until('new replicas carry out commands', () =>
      Promise.resolve(
        subjects.slice(0, 4).every((id) => (confirmed.get(id) ?? 0) > (handedOver.get(id) ?? 0) + 3),
      ),
    );
    stopped = true;
    await load;

    expect(wrong).toEqual([]);
    expect(reads).toBeGreaterThan(50);
    for (const id of subjects) {
      const amounts = await amountsOf(id);
      expect(amounts).toEqual(Array.from({ length: amounts.length }, (_, n) => n + 1));
      expect((await rowOf(id))?.notes).toBe(amounts.join('+'));
    }
    expect(await rebuildSchemas()).toEqual([]);
  }, 60_000);

  it('is rebuilt correctly if two replicas start at the same time', async () => {
    const [id = ''] = ids(1);
    for (let n = 1; n <= 5; n += 1) await add(id, n, tallies(1));
    await Promise.all([follow(tallies(2)), follow(tallies(2))]);
    expect((await rowOf(id))?.notes).toBe('1+2+3+4+5');
    expect(await storedVersion()).toBe(2);
  });

  it('refuses an older release if the tables are newer', async () => {
    await add(newId(), 1, tallies(1));
    await follow(tallies(2));
    await expect(follow(tallies(1))).rejects.toThrow(/at version 2, and this release knows version 1/);
  });

  it('gets the version of the release if its tables were never filled', async () => {
    await follow(tallies(3));
    const id = newId();
    await add(id, 1, tallies(3));
    expect([await storedVersion(), (await rowOf(id))?.total]).toEqual([3, 1]);
  });
});

describe('a rebuild', () => {
  it('keeps columns, constraints, indexes, grants and names', async () => {
    await add(newId(), 2, tallies(1));
    const before = await shape();
    await rebuildProjection(database, bus, tallies(1));
    expect(await shape()).toEqual(before);
  });

  it('keeps columns that the stream does not contain, and repairs columns that the stream contains', async () => {
    const [id = ''] = ids(1);
    await add(id, 2, tallies(1));
    await database.query(`UPDATE tallies SET seen = 7, total = 99, notes = 'wrong'`);
    const progress = await rebuildProjection(database, bus, tallies(1));
    expect(progress).toEqual({ phase: 'done', applied: 1, total: 1, secondsLeft: 0 });
    expect(await rowOf(id)).toEqual({ total: 2, notes: '2', seen: 7 });
    expect(await database.query('SELECT * FROM visits')).toEqual([{ id, amount: 2 }]);
  });

  it('writes to every table the messages that no replica has applied yet', async () => {
    const [id = ''] = ids(1);
    await add(id, 1, tallies(1));
    const commandId = newId();
    const last = await store.lastSeq('KEYWORDS', subjectOfId(id));
    await store.append(
      subjectOfId(id),
      tally.encode({ commandId, id, events: [{ amount: 2 }] }),
      last,
      commandId,
    );
    const progress = await rebuildProjection(database, bus, tallies(1));
    expect(progress).toEqual({ phase: 'done', applied: 2, total: 2, secondsLeft: 0 });
    expect(await rowOf(id)).toMatchObject({ total: 3, notes: '1 2' });
    expect(await database.query('SELECT amount FROM visits ORDER BY 1')).toEqual([
      { amount: 1 },
      { amount: 2 },
    ]);
    // A command that reads the message later finds that it is already applied.
    expect(await add(id, 3, tallies(1))).toBe(6);
    expect(await rowOf(id)).toMatchObject({ total: 6, notes: '1 2 3' });
  });

  it('does not restore rows that are purged while it builds', async () => {
    const [gone = '', stays = ''] = ids(2);
    for (const id of [gone, stays]) await add(id, 1, tallies(1));
    let purged = false;
    let holdUntil: Promise<unknown> = Promise.resolve();
    await rebuildProjection(database, bus, tallies(1), ({ phase }) => {
      if (phase !== 'build' || purged) return;
      purged = true;
      // A separate connection delays the switch until the purge is done.
      holdUntil = database.transaction(async (tx) => {
        await tx.query('LOCK TABLE projection_positions IN ROW EXCLUSIVE MODE');
        await store.erase('KEYWORDS', subjectOfId(gone));
        await tx.query('DELETE FROM tallies WHERE id = $1', [gone]);
        await tx.query('DELETE FROM projection_positions WHERE subject = $1', [subjectOfId(gone)]);
      });
    });
    await holdUntil;
    expect([await rowOf(gone), (await rowOf(stays))?.total]).toEqual([undefined, 1]);
  });

  it('waits for a long transaction that reads one table after another, and does not abort it', async () => {
    const [id = ''] = ids(1);
    await add(id, 1, tallies(1));
    const phases: string[] = [];
    const rebuilt = await database.transaction(async (tx) => {
      await tx.query('SELECT count(*) FROM owners');
      const done = rebuildProjection(database, bus, tallies(1), ({ phase }) => phases.push(phase));
      await until('the switch has been rolled back twice', () =>
        Promise.resolve(phases.filter((phase) => phase === 'switch').length > 2),
      );
      expect(await tx.query('SELECT total FROM tallies')).toEqual([{ total: 1 }]);
      return { done };
    });
    expect((await rebuilt.done).phase).toBe('done');
  });

  it('reports its end although NATS cannot be reached after the switch', async () => {
    const [id = ''] = ids(1);
    await add(id, 1, tallies(1));
    // The switch asks once more for the end of the stream.
    let answered = Infinity;
    const info: Bus['jsm']['streams']['info'] = (...args) => {
      answered -= 1;
      return answered < 0 ? Promise.reject(new Error('no connection')) : bus.jsm.streams.info(...args);
    };
    const unreachable = { ...bus, jsm: { streams: { info } } } as unknown as Bus;
    const progress = await rebuildProjection(database, unreachable, tallies(1), ({ phase }) => {
      if (phase === 'switch') answered = 1;
    });
    expect(progress).toEqual({ phase: 'done', applied: 1, total: 1, secondsLeft: 0 });
    expect(await rowOf(id)).toMatchObject({ total: 1 });
  });

  it('names a message that cannot be applied, and keeps the old tables', async () => {
    const [id = ''] = ids(1);
    for (const amount of [1, 13]) await add(id, amount, tallies(1));
    await expect(rebuildProjection(database, bus, tallies(2, 13))).rejects.toThrow(
      `Message 2 of KEYWORDS (${subjectOfId(id)}) cannot be applied to tallies-v1: cannot be read. The old tables are unchanged.`,
    );
    expect(await rowOf(id)).toMatchObject({ total: 14, notes: '1 13' });
    expect([await rebuildSchemas(), await storedVersion()]).toEqual([[], 1]);
    await add(id, 2, tallies(1));
    expect(await rowOf(id)).toMatchObject({ total: 16 });
  });

  it('is refused while another rebuild of the same projection runs', async () => {
    await add(newId(), 1, tallies(1));
    const outcomes = await Promise.allSettled([1, 2].map(() => rebuildProjection(database, bus, tallies(1))));
    const refused = outcomes.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => reason as unknown)).toEqual([expect.any(RebuildUnderWay)]);
  });

  it.each([
    ['CREATE VIEW v AS SELECT * FROM tallies', 'the view v reads it'],
    ['CREATE TABLE more (id text REFERENCES tallies)', 'the table more refers to it'],
    ['ALTER TABLE tallies ADD COLUMN n serial', 'the column n takes its default from a sequence'],
  ])(
    'is refused with the reason if the exchange of the table would lose something: %s',
    async (statement, reason) => {
      await database.query(statement);
      await expect(rebuildProjection(database, bus, tallies(1))).rejects.toThrow(
        `tallies-v1 cannot be rebuilt beside its table tallies: ${reason}`,
      );
    },
  );
});
