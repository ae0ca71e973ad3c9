import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { create } from '@bufbuild/protobuf';
import { RetireKeywordSchema, RotateSigningSecretSchema } from '#contracts';
import { newId } from '#kernel';
import { startService, type RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, programEnv, until, type IsolatedStores } from '#testing';
import { CommandClient } from '#transport';
import { billingService } from '../billing/billing.module.js';
import { readBillingConfig } from '../billing/config.js';
import { Passwords } from '../gateway/auth/passwords.js';
import { readKeywordsConfig } from '../keywords/config.js';
import { keywordsService } from '../keywords/keywords.module.js';
import { demoAccount, type DemoAccount } from './demo-account.js';
import { presentSigningSecret } from './sealed-secrets.js';

const directory = mkdtempSync(join(tmpdir(), 'earshot-demo-'));
const services: RunningService[] = [];
let env: NodeJS.ProcessEnv;
let stores: IsolatedStores;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  env = programEnv(stores, { INTERVAL_FLOOR_SECONDS: '1' });
  const billing = readBillingConfig(env);
  services.push(await startService(billingService(billing), billing, false));
  const keywords = readKeywordsConfig(env);
  services.push(await startService(keywordsService(keywords), keywords, false));
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  database = await openDatabase(stores.databaseUrl, 'spec');
});

afterAll(async () => {
  for (const service of services) await service.stop();
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
  rmSync(directory, { recursive: true });
});

async function keywordStates(): Promise<Record<string, string[]>> {
  const rows: { keyword_id: string; state: string }[] = await database.query(
    'SELECT keyword_id, state FROM keywords ORDER BY keyword_id',
  );
  const ids = (state: string) => rows.filter((row) => row.state === state).map((row) => row.keyword_id);
  return { active: ids('active'), retired: ids('retired') };
}

it('a second start uses the account of the first start, and replaces the keywords if the port has changed', async () => {
  const first = await demoAccount(bus, directory, 'http://127.0.0.1:8090');
  expect(await demoAccount(bus, directory, 'http://127.0.0.1:8090')).toEqual(first);
  expect(await keywordStates()).toEqual({ active: [...first.keywordIds].sort(), retired: [] });
  const moved = await demoAccount(bus, directory, 'http://127.0.0.1:8091');
  expect([moved.apiKey, moved.port]).toEqual([first.apiKey, 8091]);
  expect(await keywordStates()).toEqual({
    active: [...moved.keywordIds].sort(),
    retired: [...first.keywordIds].sort(),
  });
});

it('a start creates purged keywords again, with the same port and with another port', async () => {
  const purge = async ({ accountId, keywordIds }: DemoAccount, n: number) => {
    const command = { commandId: newId(), accountId, keywordId: keywordIds[n]!, purge: true };
    await new CommandClient(bus).request(COMMANDS.retireKeyword, create(RetireKeywordSchema, command));
  };
  const before = await demoAccount(bus, directory, 'http://127.0.0.1:8091');
  await purge(before, 1);
  const same = await demoAccount(bus, directory, 'http://127.0.0.1:8091');
  expect(same.keywordIds.map((id, n) => id === before.keywordIds[n])).toEqual([true, false, true]);
  await purge(same, 0);
  const moved = await demoAccount(bus, directory, 'http://127.0.0.1:8092');
  expect((await keywordStates())['active']).toEqual([...moved.keywordIds].sort());
  await demoAccount(bus, directory, 'http://127.0.0.1:8091');
});

it('the demo has an owner who can sign in with the printed password', async () => {
  const { accountId, email, password } = await demoAccount(bus, directory, 'http://127.0.0.1:8091');
  const [member]: { role: string; password_hash: string }[] = await database.query(
    'SELECT role, password_hash FROM members WHERE account_id = $1 AND email = $2',
    [accountId, email],
  );
  expect(member?.role).toBe('owner');
  expect(await new Passwords().isRight(password, member?.password_hash)).toBe(true);
});

it('the demo can read the current signing secret after a rotation', async () => {
  const { accountId, signingSecret } = await demoAccount(bus, directory, 'http://127.0.0.1:8091');
  await until(
    'the first secret is read',
    async () => (await presentSigningSecret(env, accountId)) === signingSecret,
  );
  const rotate = create(RotateSigningSecretSchema, { commandId: newId(), accountId });
  const rotated = await new CommandClient(bus).request(COMMANDS.rotateSigningSecret, rotate);
  await until(
    'the new secret is read',
    async () => (await presentSigningSecret(env, accountId)) === rotated.signingSecret,
  );
  expect(await presentSigningSecret(env, newId())).toBeUndefined();
});
