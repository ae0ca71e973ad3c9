import { fromBinary } from '@bufbuild/protobuf';
import { JetStreamApiError } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/nats-core';
import { QueryFailedError } from 'typeorm';
import { LookupSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { fundAccount, isolateStores, type IsolatedStores } from '#testing';
import { publishPaidWork, type PaidWork } from './paid-work.js';
import { reserve } from './reservations.js';

const log = createLogger('spec', 'silent');
let stores: IsolatedStores;
let database: Database;
let bus: Bus;
let store: EventStore;
let work: PaidWork;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  bus = await connectBus(stores.natsUrl, 'spec', log);
});
afterAll(async () => {
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});
beforeEach(async () => {
  store = new EventStore(bus);
  const accountId = newId();
  work = {
    ...{ id: newId(), accountId, operation: 'analysis_group', outcome: 'found' },
    ...{ questionJson: '{}', found: 2, costCredits: 2 },
  };
  await fundAccount(database, accountId, 10);
  await reserve(database, [{ reservationId: work.id, accountId, credits: 2, lifetimeSeconds: 60 }]);
});
afterEach(() => jest.restoreAllMocks());

const publish = () => publishPaidWork({ database, store, log }, work);

async function facts() {
  const stored = await store.read('LOOKUPS', subjectOf('LOOKUPS', work.accountId));
  return stored.map(({ data }) => fromBinary(LookupSchema, data));
}

/** Runs `after` when the stream has stored a fact, before the caller of `publish` continues. */
function afterStored(after: () => void): void {
  const stored = store.publish.bind(store);
  jest.spyOn(store, 'publish').mockImplementation(async (...message) => {
    await stored(...message);
    after();
  });
}

describe('paid work', () => {
  it('stores one fact even if it is repeated, and keeps its reservation until the charge', async () => {
    await publish();
    await publish();
    expect(await facts()).toMatchObject([{ lookupId: work.id, operation: 'analysis_group', costCredits: 2 }]);
    const rows: unknown = await database.query(
      `SELECT amount FROM credit_reservations WHERE reservation_id = $1 AND expires_at = 'infinity'`,
      [work.id],
    );
    expect(rows).toEqual([{ amount: 2 }]);
  });

  it('succeeds and logs a warning if Postgres cannot be reached after its fact is stored', async () => {
    const warn = jest.spyOn(log, 'warn');
    const outage = new QueryFailedError('DELETE', [], new Error('Connection terminated'));
    afterStored(() => jest.spyOn(database, 'query').mockRejectedValue(outage));
    await publish();
    expect(warn.mock.calls).toMatchObject([[{ err: outage, reservationId: work.id }, expect.any(String)]]);
    expect(await facts()).toHaveLength(1);
  });

  it('fails if the stream does not acknowledge the fact, and says that the request may have been charged', async () => {
    afterStored(() => {
      throw new TimeoutError();
    });
    await expect(publish()).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'a store did not confirm the charge; it is not known whether the request was charged',
    });
    expect(await facts()).toHaveLength(1);
  });

  it('throws the unchanged error of the server if the server refuses the fact', async () => {
    const refused = new JetStreamApiError({ code: 400, err_code: 10_054, description: 'too large' });
    jest.spyOn(store, 'publish').mockRejectedValue(refused);
    await expect(publish()).rejects.toBe(refused);
  });
});
