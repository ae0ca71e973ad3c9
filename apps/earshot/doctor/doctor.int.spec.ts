import { AckPolicy } from '@nats-io/jetstream';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { newId } from '#kernel';
import { connectBus, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import { fakeOnly, isolateStores, programEnv, type IsolatedStores } from '#testing';
import { checkInstallation, type Finding } from './doctor.js';

let stores: IsolatedStores;
let bus: Bus;
let database: Database;
let clickhouse: ClickHouseClient;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  stores = await isolateStores();
  env = programEnv(stores);
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  database = await openDatabase(stores.databaseUrl, 'spec');
  clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
});
afterAll(async () => {
  await clickhouse?.close();
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

/** Returns the failed checks. @param meanwhile what happens between the two reads of a consumer */
async function faults(meanwhile = async (): Promise<void> => undefined): Promise<Omit<Finding, 'ok'>[]> {
  const findings = await checkInstallation({ bus, database, clickhouse, env }, 100, { wait: meanwhile });
  return findings.flatMap(({ ok, ...finding }) => (ok ? [] : [finding]));
}

describe('doctor', () => {
  it('finds no fault in a healthy installation', async () => {
    expect(await faults()).toEqual([]);
  });

  it('leaves out a check only if the check needs a store without a connection', async () => {
    const checksWithout = async (missing: object) =>
      (await checkInstallation({ bus, database, clickhouse, env, ...missing }, 100)).map(
        ({ check }) => check,
      );
    const all = await checksWithout({});
    expect(all).toHaveLength(6);
    expect(await checksWithout({ clickhouse: undefined })).toEqual(all.slice(0, 5));
    expect(await checksWithout({ bus: undefined })).toEqual(['the master key decrypts every stored secret']);
  });

  it.each([
    ['throws an error', () => Promise.reject(new Error('lost')), 'lost'],
    ['does not answer', () => new Promise(() => undefined), 'no answer within 2 s'],
  ])('reports the results of all checks if a store %s during some of them', async (_, query, reason) => {
    const broken = { query, getRepository: () => ({ find: query }) } as unknown as Database;
    const findings = await checkInstallation({ bus, database: broken, clickhouse, env }, 100, {
      checkMs: 2000,
    });
    expect(findings).toHaveLength(6);
    expect(findings.filter(({ ok }) => !ok)).toEqual([
      {
        check: 'streams contain what the tables show',
        ok: false,
        detail: `the check did not finish (it needs NATS and Postgres): ${reason}`,
      },
      {
        check: 'the master key decrypts every stored secret',
        ok: false,
        detail: `the check did not finish (it needs Postgres): ${reason}`,
      },
    ]);
  });

  it('finds tables that are ahead of their stream, and advises to restore NATS from a backup', async () => {
    await database.query(`INSERT INTO projection_positions VALUES ('keywords-v1', 'keywords.a.b', 7)`);
    expect(await faults()).toEqual([
      {
        check: 'streams contain what the tables show',
        detail: "KEYWORDS ends at 0, but was processed up to 7: restore NATS' directory from a backup",
      },
    ]);
    await database.query('DELETE FROM projection_positions');
  });

  it('finds consumers that have not processed a message of their subjects for two hours', async () => {
    await bus.jsm.consumers.add('CHECKS', {
      durable_name: 'spec',
      filter_subject: 'checks.a.>',
      ack_policy: AckPolicy.Explicit,
    });
    const consumer = await bus.js.consumers.get('CHECKS', 'spec');
    const publish = async (subject: string) => (await bus.js.publish(subject, 'x')).seq;
    await publish('checks.a.done');
    await publish('checks.other.b');
    const seq = await publish('checks.a.failing');
    await publish('checks.a.later');
    await (await consumer.next())?.ackAck();
    (await consumer.next())?.nak(1);
    for (let n = 0; n < 2; n += 1) {
      const message = await consumer.next();
      if (message?.seq === seq) message.nak(60_000);
      else await message?.ackAck();
    }
    expect(await faults()).toEqual([]);
    jest.useFakeTimers({ ...fakeOnly('Date'), now: Date.now() + 2.5 * 3_600_000 });
    const found = await faults().finally(() => jest.useRealTimers());
    expect(found).toEqual([
      {
        check: 'every consumer processes its oldest message',
        detail: `spec: message ${seq} of CHECKS (checks.a.failing) is 2 hours old; see EarshotMessageNeverProcessed in docs/runbook.md`,
      },
    ]);
    await bus.jsm.consumers.delete('CHECKS', 'spec');
    await bus.jsm.streams.purge('CHECKS');
  });

  it('finds no fault in a consumer that catches up with old messages', async () => {
    for (const subject of ['checks.a.first', 'checks.a.second']) await bus.js.publish(subject, 'x');
    await bus.jsm.consumers.add('CHECKS', { durable_name: 'spec', ack_policy: AckPolicy.Explicit });
    const consumer = await bus.js.consumers.get('CHECKS', 'spec');
    const processOne = jest.fn(async () => {
      await (await consumer.next())?.ackAck();
    });
    jest.useFakeTimers({ ...fakeOnly('Date'), now: Date.now() + 2.5 * 3_600_000 });
    const found = await faults(processOne).finally(() => jest.useRealTimers());
    expect([found, processOne.mock.calls.length]).toEqual([[], 1]);
    await bus.jsm.consumers.delete('CHECKS', 'spec');
    await bus.jsm.streams.purge('CHECKS');
  });

  it('finds parked messages, and states the command that lists these messages', async () => {
    const { seq } = await bus.js.publish('parked.CHECKS.spec', 'x');
    expect(await faults()).toEqual([
      { check: 'no message is parked', detail: '1 message; list them with: npm run -s cli -- parked list' },
    ]);
    await bus.jsm.streams.deleteMessage('PARKED', seq);
  });

  it('finds accounts with a previous signing secret that the master key cannot decrypt', async () => {
    const [own, foreign] = [env.MASTER_KEY ?? '', 'ab'.repeat(32)].map((key) => new SecretBox(key).seal('s'));
    const accountId = newId();
    await database.query(
      `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, previous_signing_secret_encrypted, created_at)
       VALUES ($1, 'a@example.org', 'free', $2, $3, now())`,
      [accountId, own, foreign],
    );
    expect(await faults()).toEqual([
      {
        check: 'the master key decrypts every stored secret',
        detail: expect.stringContaining(accountId) as string,
      },
    ]);
    await database.query('UPDATE accounts SET previous_signing_secret_encrypted = NULL');
    expect(await faults()).toEqual([]);
  });

  it('finds channels with a secret that the master key cannot decrypt', async () => {
    const channelId = newId();
    await database.query(
      `INSERT INTO channels (channel_id, account_id, kind, name, state, config, secret_encrypted, addresses, created_at, updated_at)
       VALUES ($1, $2, 'slack', 'alerts', 'active', '{}', $3, '{}', now(), now())`,
      [channelId, newId(), new SecretBox('ab'.repeat(32)).seal('s')],
    );
    expect(await faults()).toEqual([
      {
        check: 'the master key decrypts every stored secret',
        detail: expect.stringContaining(`channel ${channelId}`) as string,
      },
    ]);
    await database.query('DELETE FROM channels');
  });
});
