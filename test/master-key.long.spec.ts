import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '#embedded';
import { AccountEntity, openDatabase, type Database } from '#postgres';
import { SecretBox } from '#secrets';
import {
  beginProgram,
  checkout,
  type IsolatedStores,
  isolateStores,
  programEnv,
  startProgram,
} from '#testing';

const run = promisify(execFile);
const cli = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));
const dataDir = mkdtempSync(join(tmpdir(), 'earshot-master-key-'));
const keyFile = join(dataDir, 'master.key');
let stores: IsolatedStores;
let env: NodeJS.ProcessEnv;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  env = programEnv(stores, { DATA_DIR: dataDir, MASTER_KEY: '' });
  database = await openDatabase(stores.databaseUrl, 'spec');
});

afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function command(...args: string[]): Promise<Record<string, string>> {
  const { stdout } = await run(process.execPath, [cli, ...args], { env });
  return JSON.parse(stdout) as Record<string, string>;
}

async function refusedStart(): Promise<string> {
  const program = beginProgram('earshot', env, await freePort());
  await program.ended;
  expect(program.child.exitCode).toBe(1);
  return program.output();
}

describe('the master key of an installation', () => {
  const secrets: string[] = [];
  let accountId = '';

  it('can be rotated: the next start encrypts every stored secret with the new key', async () => {
    let earshot = await startProgram('earshot', env);
    const opened = await command('accounts', 'create', '--email', 'ada@example.org');
    accountId = opened.accountId ?? '';
    const rotated = await command('signing-secret', 'rotate', '--account', accountId);
    secrets.push(opened.signingSecret ?? '', rotated.signingSecret ?? '');
    const before = readFileSync(keyFile, 'utf8').trim();
    expect(await command('master-key', 'rotate')).toMatchObject({ rotated: true });
    // Secrets that are created until the next start are encrypted with the old key, and must not be lost.
    const late = await command('accounts', 'create', '--email', 'late@example.org');
    await earshot.stop();
    await expect(command('master-key', 'rotate')).rejects.toThrow('A rotation is not finished');
    earshot = await startProgram('earshot', env);
    const after = readFileSync(keyFile, 'utf8').trim();
    expect(after).toMatch(/^[0-9a-f]{64}$/);
    expect(after).not.toBe(before);
    const accounts = database.getRepository(AccountEntity);
    const box = new SecretBox(after);
    const ada = await accounts.findOneByOrFail({ accountId });
    expect(box.open(ada.previousSigningSecretEncrypted as Buffer)).toBe(secrets[0]);
    expect(box.open(ada.signingSecretEncrypted)).toBe(secrets[1]);
    const other = await accounts.findOneByOrFail({ accountId: late.accountId ?? '' });
    expect(box.open(other.signingSecretEncrypted)).toBe(late.signingSecret);
    expect(() => new SecretBox(before).open(ada.signingSecretEncrypted)).toThrow();
    await earshot.stop();
  }, 120_000);

  it('is not replaced by a new key if it is lost, and the error says what to do', async () => {
    renameSync(keyFile, `${keyFile}.away`);
    const output = await refusedStart();
    expect(output).toContain(`${keyFile} is missing, and the stores contain secrets`);
    expect(output).toContain('Restore it from your backup');
    expect(() => readFileSync(keyFile)).toThrow('ENOENT');
    // As if Postgres were lost too: its row about secrets is gone, but the streams still show that secrets exist.
    await database.query('DELETE FROM installation');
    expect(await refusedStart()).toContain('is missing, and the stores contain secrets');
  }, 60_000);

  it('is refused if it is damaged or belongs to another installation', async () => {
    writeFileSync(keyFile, `${'ab'.repeat(32)}\n`);
    expect(await refusedStart()).toContain(
      "is not the key that this installation's secrets were encrypted with",
    );
    writeFileSync(keyFile, 'half a ke');
    expect(await refusedStart()).toContain('master.key is damaged');
    renameSync(`${keyFile}.away`, keyFile);
    const earshot = await startProgram('earshot', env);
    await earshot.stop();
  }, 120_000);
});
