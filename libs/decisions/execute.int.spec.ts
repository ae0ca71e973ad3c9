import type { JsMsg } from '@nats-io/jetstream';
import { newId, Refusal } from '#kernel';
import { runDurable } from '#messaging';
import { applyBatch, consumerOf, type Projection } from '#projections';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { execute } from './execute.js';
import { tallies, tally, type Added } from './testing/tallies.js';
import { TallyScene } from './testing/tally-scene.js';

const scene = new TallyScene();
const { add, stored, row, appendAndDie, messages } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.begin());

describe('executing a command', () => {
  it('stores the decision, writes it to the table, and returns the new state', async () => {
    expect(await add(3)).toBe(3);
    expect(await row()).toEqual({ total: 3, notes: '3' });
    expect(await add(4)).toBe(7);
    expect(await row()).toEqual({ total: 7, notes: '3 4' });
    expect(await stored()).toEqual([3, 4]);
  });

  it('changes nothing if the same command is repeated', async () => {
    const commandId = newId();
    expect(await add(3, commandId)).toBe(3);
    await add(4);
    expect(await add(3, commandId)).toBe(7);
    expect(await add(90, commandId)).toBe(7);
    expect(await stored()).toEqual([3, 4]);
  });

  it('changes the state once if the same command arrives three times at the same time', async () => {
    const commandId = newId();
    await Promise.all([add(3, commandId), add(3, commandId), add(3, commandId)]);
    expect([await stored(), await row()]).toEqual([[3], { total: 3, notes: '3' }]);
  });

  it('stores nothing if the command changes nothing or is refused', async () => {
    expect(await add(0)).toBe(0);
    await expect(add(101)).rejects.toThrow('too much');
    expect([await stored(), await row()]).toEqual([[], undefined]);
  });

  it('refuses a decision that is too large for a message, and appends nothing', async () => {
    await add(1);
    const large = { ...tally, encode: () => new Uint8Array(900 * 1024 + 1) };
    await expect(add(2, newId(), large)).rejects.toMatchObject({
      kind: 'too-large',
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect([await stored(), await row()]).toEqual([[1], { total: 1, notes: '1' }]);
  });

  it('decides each of many concurrent commands on the state after the previous command', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => add(10)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(10);
    expect((await stored()).length).toBe(10);
    expect((await row())?.total).toBe(100);
  });

  it('decides again if another writer has appended without the lock', async () => {
    await add(1);
    let interfered = false;
    const total = await execute(scene.database, scene.store, {
      aggregate: tally,
      projection: tallies,
      accountId: scene.accountId,
      subjectTokens: [scene.id],
      commandId: newId(),
      async decide() {
        if (!interfered) await appendAndDie(5);
        interfered = true;
        return [{ amount: 10 }];
      },
      decisionOf: (events) => ({ commandId: newId(), id: scene.id, events }),
    });
    expect(total).toBe(16);
    expect(await row()).toEqual({ total: 16, notes: '1 5 10' });
  });

  it('fails with a conflict if another writer changes the subject during each attempt', async () => {
    const refusal = await execute(scene.database, scene.store, {
      aggregate: tally,
      projection: tallies,
      accountId: scene.accountId,
      subjectTokens: [scene.id],
      commandId: newId(),
      async decide() {
        await appendAndDie(1);
        return [{ amount: 10 }];
      },
      decisionOf: (events) => ({ commandId: newId(), id: scene.id, events }),
    }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'conflict', code: 'CONFLICT' });
  });

  it('repairs the table with the next command after a crash between the append and the write to the table', async () => {
    await add(1);
    await appendAndDie(2);
    expect(await row()).toEqual({ total: 1, notes: '1' });
    expect(await add(4)).toBe(7);
    expect(await row()).toEqual({ total: 7, notes: '1 2 4' });
  });

  it.each([
    ['refuses', () => Promise.reject(Refusal.notFound('tally'))],
    ['changes nothing for', () => Promise.resolve([])],
  ])(
    'reads the stream for a subject without a row, even if the command %s a new subject',
    async (_, ofNew) => {
      await appendAndDie(5);
      const commandId = newId();
      const total = await execute(scene.database, scene.store, {
        aggregate: tally,
        projection: tallies,
        accountId: scene.accountId,
        subjectTokens: [scene.id],
        commandId,
        decide: (before): Promise<Added[]> => (before === 0 ? ofNew() : Promise.resolve([{ amount: 1 }])),
        decisionOf: (events) => ({ commandId, id: scene.id, events }),
      });
      expect([total, await stored(), await row()]).toEqual([6, [5, 1], { total: 6, notes: '5 1' }]);
    },
  );

  it('reads what earlier commands of the account have stored, before it decides', async () => {
    const ids = Array.from({ length: 12 }, () => newId());
    const addIfFew = (id: string) =>
      execute(scene.database, scene.store, {
        aggregate: tally,
        projection: tallies,
        accountId: scene.accountId,
        subjectTokens: [id],
        commandId: newId(),
        async read(tx): Promise<number> {
          const rows: unknown[] = await tx.query('SELECT 1 FROM tallies WHERE id = ANY ($1)', [ids]);
          return rows.length;
        },
        decide(_total, _tx, tallyCount) {
          if (tallyCount >= 5) throw Refusal.conflict('too many');
          return [{ amount: 1 }];
        },
        decisionOf: (events) => ({ commandId: newId(), id, events }),
      });
    const outcomes = await Promise.allSettled(ids.map(addIfFew));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(5);
  });

  it('returns the state for a repeated command, even if `read` refuses the repetition', async () => {
    const [commandId, refused] = [newId(), newId()];
    const addUnlessRefused = (id: string, read: () => Promise<undefined>) =>
      execute(scene.database, scene.store, {
        aggregate: tally,
        projection: tallies,
        accountId: scene.accountId,
        subjectTokens: [scene.id],
        commandId: id,
        read,
        decide: () => [{ amount: 1 }],
        decisionOf: (events) => ({ commandId: id, id: scene.id, events }),
      });
    const refuse = () => Promise.reject(Refusal.notFound('tally'));
    expect(await addUnlessRefused(commandId, () => Promise.resolve(undefined))).toBe(1);
    expect(await addUnlessRefused(commandId, refuse)).toBe(1);
    await expect(addUnlessRefused(refused, refuse)).rejects.toMatchObject({ kind: 'not-found' });
    expect([await stored(), await row()]).toEqual([[1], { total: 1, notes: '1' }]);
  });

  it('finds a command that was stored before a crash, and does not execute it again', async () => {
    const commandId = newId();
    await appendAndDie(2, commandId);
    expect(await add(2, commandId)).toBe(2);
    expect([await stored(), await row()]).toEqual([[2], { total: 2, notes: '2' }]);
  });
});

describe('a projection', () => {
  const apply = (batch: readonly JsMsg[]) => applyBatch(scene.database, tallies, batch);

  it('repairs the table through its durable consumer after a crash between the append and the write to the table', async () => {
    await add(1);
    await appendAndDie(2);
    const running = await runDurable(
      scene.bus,
      { ...consumerOf(tallies), handle: apply },
      createLogger('spec', 'silent'),
    );
    await until('the table contains the decision', async () => (await row())?.total === 3);
    await running.stop();
    expect(await row()).toEqual({ total: 3, notes: '1 2' });
  });

  it('applies a batch only once if it is delivered several times', async () => {
    for (const amount of [1, 2, 3]) await appendAndDie(amount);
    const batch = await messages();
    const outcomes = [await apply(batch), await apply(batch), await apply([...batch, ...batch])];
    expect(outcomes.flat().every(({ kind }) => kind === 'done')).toBe(true);
    expect(await row()).toEqual({ total: 6, notes: '1 2 3' });
  });

  it('applies a batch in order, also if it is delivered in reverse order', async () => {
    for (const amount of [1, 2, 3]) await appendAndDie(amount);
    const batch = await messages();
    await apply([...batch].reverse());
    expect(await row()).toEqual({ total: 6, notes: '1 2 3' });
  });

  it('applies messages of several subjects together, each subject in its order', async () => {
    const ids = [newId(), newId()];
    const batch: JsMsg[] = [];
    for (scene.id of ids) {
      for (const amount of [1, 2, 3]) await appendAndDie(amount);
      batch.push(...(await messages()));
    }
    const [last] = batch.splice(-1);
    expect((await apply(batch.reverse())).map(({ kind }) => kind)).toEqual(batch.map(() => 'done'));
    expect((await apply([...batch, last as JsMsg])).map(({ kind }) => kind)).toEqual(
      [...batch, last].map(() => 'done'),
    );
    for (scene.id of ids) expect(await row()).toEqual({ total: 6, notes: '1 2 3' });
  });

  it('waits for a command that has appended its decision and has not yet applied it', async () => {
    let batch: JsMsg[] = [];
    let waiting: Promise<unknown> | undefined;
    const slow: Projection = {
      ...tallies,
      async apply(tx, given) {
        batch = await messages();
        waiting ??= apply(batch);
        await until('the consumer waits', async () => {
          const rows: unknown[] = await scene.database.query(
            `SELECT 1 FROM pg_stat_activity WHERE application_name = 'earshot-spec' AND wait_event_type = 'Lock'`,
          );
          return rows.length > 0;
        });
        return tallies.apply(tx, given);
      },
    };
    const commandId = newId();
    await execute(scene.database, scene.store, {
      aggregate: tally,
      projection: slow,
      accountId: scene.accountId,
      subjectTokens: [scene.id],
      commandId,
      decide: () => [{ amount: 4 }],
      decisionOf: (events) => ({ commandId, id: scene.id, events }),
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

  it('stores no position of a batch that cannot be applied', async () => {
    await appendAndDie(1);
    const batch = await messages();
    const broken: Projection = {
      ...tallies,
      name: 'tallies-broken',
      apply: () => Promise.reject(new Error('broken')),
    };
    await expect(applyBatch(scene.database, broken, batch)).rejects.toThrow('broken');
    const rows: unknown[] = await scene.database.query(
      'SELECT 1 FROM projection_positions WHERE projection = $1',
      [broken.name],
    );
    expect(rows).toEqual([]);
  });
});
