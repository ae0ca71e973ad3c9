import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '#postgres';
import {
  checkout,
  type IsolatedStores,
  isolateStores,
  type Program,
  programEnv,
  startProgram,
} from '#testing';

let stores: IsolatedStores;
let billing: Program;
beforeAll(async () => {
  stores = await isolateStores();
  billing = await startProgram('billing', programEnv(stores));
});
afterAll(async () => {
  await billing?.stop();
  await stores?.drop();
});

const program = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));

/** Runs a command of the command line. Returns its output and exit code. */
function cli(...words: string[]): Promise<{ code: number; out: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { env: programEnv(stores) }, (error, out, errors) =>
      resolve({ code: error ? Number(error.code) : 0, out, errors }),
    );
  });
}

async function account(plan: string): Promise<string> {
  const { out } = await cli('accounts', 'create', '--email', `${plan}@example.org`, '--plan', plan);
  return (JSON.parse(out) as { accountId: string }).accountId;
}

it('credits grant, show and audit print only their result on standard output', async () => {
  const accountId = await account('free');
  const granted = await cli(
    'credits',
    'grant',
    '--account',
    accountId,
    '--amount',
    '500',
    '--note',
    'thanks',
  );
  expect(granted).toEqual({
    code: 0,
    out: expect.stringMatching(/^\{"packId":"[0-9a-f-]{36}","amount":500,"creditsRemaining":3500\}\n$/),
    errors: '',
  });
  await cli('accounts', 'change-plan', '--account', accountId, '--plan', 'solo');
  const shown = await cli('credits', 'show', '--account', accountId);
  expect(JSON.parse(shown.out)).toMatchObject({
    accountId,
    plan: 'solo',
    monthlyAllowance: 60_000,
    creditsRemaining: 60_500,
    creditsReserved: 0,
  });
  const audited = await cli('credits', 'audit', '--account', accountId);
  expect(audited).toMatchObject({ code: 0, errors: '' });
  expect(audited.out).toMatch(/\n3 movements, 0 of them charges; balance 60500\nEverything agrees\.\n$/);
}, 60_000);

it('credits grant adds the credits once if the disk of Postgres is full after the decision was stored', async () => {
  const accountId = await account('pro');
  const database = await openDatabase(stores.databaseUrl, 'spec', 2);
  // A rollback does not reset a sequence, so only the first attempt fails.
  await database.query('CREATE SEQUENCE attempts_of_spec');
  await database.query(`CREATE FUNCTION fail_first_grant() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.account_id = '${accountId}' AND nextval('attempts_of_spec') = 1 THEN
        RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full';
      END IF;
      RETURN NEW;
    END $$`);
  await database.query(
    'CREATE TRIGGER full_disk BEFORE INSERT ON credit_movements FOR EACH ROW EXECUTE FUNCTION fail_first_grant()',
  );
  try {
    const granted = await cli('credits', 'grant', '--account', accountId, '--amount', '500');
    expect(granted).toMatchObject({ code: 0, errors: '' });
    expect(await database.query(`SELECT last_value::int AS attempts FROM attempts_of_spec`)).toEqual([
      { attempts: 2 },
    ]);
  } finally {
    await database.query('DROP FUNCTION fail_first_grant CASCADE');
    await database.query('DROP SEQUENCE attempts_of_spec');
    await database.destroy();
  }
  const { out } = await cli('credits', 'audit', '--account', accountId);
  // The opening of the account is the other movement.
  expect(out).toMatch(/\n2 movements, 0 of them charges; balance \d+\nEverything agrees\.\n$/);
});

it('an audit that finds a fault exits with code 1', async () => {
  const accountId = await account('growth');
  const database = await openDatabase(stores.databaseUrl, 'spec', 2);
  await database.query('UPDATE credit_balances SET balance = 1 WHERE account_id = $1', [accountId]);
  await database.destroy();
  const { code, out } = await cli('credits', 'audit', '--account', accountId, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    accountId,
    agrees: false,
    faults: ['the balance in the tables is 1, but 250000 according to the stream'],
  });
});

it.each([
  ['credits', 'show'],
  ['credits', 'audit'],
  ['credits', 'grant', '--amount', '1'],
  ['accounts', 'change-plan', '--plan', 'pro'],
])('a command for an unknown account prints one error and nothing else: %s %s', async (...words) => {
  const none = '0190a0b0-0000-7000-8000-0000000000a1';
  expect(await cli(...words, '--account', none)).toEqual({ code: 1, out: '', errors: 'account not found\n' });
});

it('an invalid amount is refused before any request', async () => {
  const none = '0190a0b0-0000-7000-8000-0000000000a1';
  const { code, errors } = await cli('credits', 'grant', '--account', none, '--amount', '-5');
  expect([code, errors.split('\n')[0]]).toEqual([
    1,
    expect.stringContaining('It must be a whole number above 0.'),
  ]);
});

it('keys list prints each key of the account with its scope, without the key itself', async () => {
  const accountId = await account('unlimited');
  const made = await cli('keys', 'create', '--account', accountId, '--scope', 'read', '--name', 'dashboard');
  const { keyId, apiKey } = JSON.parse(made.out) as { keyId: string; apiKey: string };
  const { code, out, errors } = await cli('keys', 'list', '--account', accountId);
  expect([code, errors]).toEqual([0, '']);
  expect(out).not.toContain(apiKey);
  const rows = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(rows).toHaveLength(2);
  expect(rows).toContainEqual(
    expect.objectContaining({ keyId, name: 'dashboard', scope: 'read', revokedAt: null, lastUsedAt: null }),
  );
});
