import { create } from '@bufbuild/protobuf';
import { StartExploreSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId, Outage } from '#kernel';
import type { Database, Tx } from '#postgres';
import { fundAccount } from '#testing';
import { MAX_RUNNING } from '../domain/explore.js';
import { openPollingStores, type PollingStores } from '../testing/polling-under-test.js';
import { ExploresHandler } from './explores.handler.js';

const SOURCES = ['hackernews', 'lemmy', 'mastodon'];

let stores: PollingStores;
let handler: ExploresHandler;

beforeAll(async () => {
  stores = await openPollingStores();
  handler = new ExploresHandler(stores.database, stores.store);
});
afterAll(() => stores?.drop());

const explore = (accountId: string) =>
  create(StartExploreSchema, {
    ...{ commandId: newId(), accountId, question: 'acme', market: 'global', limit: 25, sources: SOURCES },
  });
async function account(credits: number): Promise<string> {
  const accountId = newId();
  await fundAccount(stores.database, accountId, credits);
  return accountId;
}
async function reservationsOf(accountId: string): Promise<number> {
  const rows: unknown[] = await stores.database.query(
    'SELECT 1 FROM credit_reservations WHERE account_id = $1',
    [accountId],
  );
  return rows.length;
}

describe('the start of an Explore', () => {
  it('reserves the price of each source, and reserves nothing if it is repeated after a source was charged', async () => {
    const accountId = await account(100);
    const command = explore(accountId);
    expect(await handler.start(command)).toMatchObject({ id: command.commandId });
    expect(await reservationsOf(accountId)).toBe(SOURCES.length);
    await stores.database.query(
      `DELETE FROM credit_reservations WHERE ctid = (SELECT ctid FROM credit_reservations WHERE account_id = $1 LIMIT 1)`,
      [accountId],
    );
    expect(await handler.start(command)).toMatchObject({ id: command.commandId });
    expect(await reservationsOf(accountId)).toBe(SOURCES.length - 1);
  });

  it('keeps its reservations if it is unknown whether the request was stored', async () => {
    class UnsureStore extends EventStore {
      override async append(...given: Parameters<EventStore['append']>): Promise<number> {
        await super.append(...given);
        throw new Outage('NATS', new Error('no acknowledgement'));
      }
    }
    const accountId = await account(100);
    const command = explore(accountId);
    const unsure = new ExploresHandler(stores.database, new UnsureStore(stores.bus));
    await expect(unsure.start(command)).rejects.toThrow(Outage);
    expect(await reservationsOf(accountId)).toBe(SOURCES.length);
    expect(await handler.start(command)).toMatchObject({ id: command.commandId });
    expect(await reservationsOf(accountId)).toBe(SOURCES.length);
    // The first attempt has written no row, because its transaction was rolled back.
    const rows: unknown[] = await stores.database.query(
      'SELECT 1 FROM explore_sources WHERE explore_id = $1',
      [command.commandId],
    );
    expect(rows.length).toBe(SOURCES.length);
  });

  it('keeps its reservations if the request is stored only after the error', async () => {
    let storeLate = () => Promise.resolve(0);
    class SlowStore extends EventStore {
      override append(...given: Parameters<EventStore['append']>): Promise<number> {
        storeLate = () => super.append(...given);
        return Promise.reject(new Outage('NATS', new Error('no acknowledgement yet')));
      }
    }
    const accountId = await account(100);
    const command = explore(accountId);
    const slow = new ExploresHandler(stores.database, new SlowStore(stores.bus));
    await expect(slow.start(command)).rejects.toThrow(Outage);
    await storeLate();
    expect(await reservationsOf(accountId)).toBe(SOURCES.length);
    expect(await handler.start(command)).toMatchObject({ id: command.commandId });
    expect(await reservationsOf(accountId)).toBe(SOURCES.length);
  });

  it('keeps no reservation if Postgres fails before the request is sent to NATS', async () => {
    const failing = Object.create(stores.database, {
      transaction: {
        value: (run: (tx: Tx) => Promise<unknown>) =>
          stores.database.transaction((tx) => {
            const query = (sql: string, values?: unknown[]) =>
              sql.includes('FROM explores') ? Promise.reject(new Error('gone')) : tx.query(sql, values);
            return run(Object.create(tx, { query: { value: query } }) as Tx);
          }),
      },
    }) as Database;
    const accountId = await account(100);
    const start = new ExploresHandler(failing, new EventStore(stores.bus)).start(explore(accountId));
    await expect(start).rejects.toThrow('gone');
    expect(await reservationsOf(accountId)).toBe(0);
  });

  it('keeps no reservation if it is refused', async () => {
    const poor = await account(1);
    await expect(handler.start(explore(poor))).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
    expect(await reservationsOf(poor)).toBe(0);
    const busy = await account(1000);
    for (let n = 0; n < MAX_RUNNING; n += 1) await handler.start(explore(busy));
    await expect(handler.start(explore(busy))).rejects.toMatchObject({ kind: 'conflict' });
    expect(await reservationsOf(busy)).toBe(MAX_RUNNING * SOURCES.length);
  });
});
