import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '#embedded';
import { openDatabase } from '#postgres';
import {
  beginProgram,
  checkout,
  type IsolatedStores,
  isolateStores,
  type Json,
  type Program,
  programEnv,
  until,
} from '#testing';
import { Browser } from './interface/browser.js';
import { PASSWORD } from './interface/people.js';

const program = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));

let stores: IsolatedStores;
let earshot: Program;
/** The output of `npm start` on standard output. */
let printed = '';

/** Starts Earshot as `npm start` does, and waits until it has printed its address. */
async function start(): Promise<void> {
  printed = '';
  earshot = beginProgram('earshot', programEnv(stores, { LOG_LEVEL: 'silent' }), await freePort());
  earshot.child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  // The sign-up code comes after this line.
  await until(
    'Earshot runs',
    () => Promise.resolve(/Earshot is running[^\n]*\n/.test(earshot.output())),
    60_000,
  );
}

beforeAll(async () => {
  stores = await isolateStores();
  await start();
}, 60_000);
afterAll(async () => {
  await earshot?.stop();
  await stores?.drop();
});

/** Runs a command. @returns the last line of its output, as JSON */
function cli(...words: string[]): Promise<Json> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...words], { env: programEnv(stores) }, (error, out, errors) =>
      error ? reject(new Error(errors)) : resolve(JSON.parse(out.trim().split('\n').at(-1) ?? '')),
    );
  });
}

const browser = () => new Browser(earshot.url);

it('a start without an account prints a sign-up code on standard output, and a later start does not [sessions.first]', async () => {
  const code = await until('the code is printed', () =>
    Promise.resolve(/^Sign-up code: ([0-9A-Z]{4}-[0-9A-Z]{4})$/m.exec(printed)?.[1]),
  );
  expect(printed).toBe(`Sign-up code: ${code}\n`);
  const answer = await browser().post('/v1/auth/sign-up', {
    email: 'ada@example.org',
    password: PASSWORD,
    code,
  });
  expect(answer.status).toBe(201);
  await earshot.stop();
  await start();
  const { body } = await browser().post('/v1/auth/sign-in', { email: 'ada@example.org', password: PASSWORD });
  expect(body.member.role).toBe('owner');
  expect(printed).toBe('');
}, 60_000);

it('the command line invites a member to an account that it created, and refuses to remove or demote the last owner', async () => {
  const { accountId } = await cli('accounts', 'create', '--email', 'bob@example.org');
  const invited = await cli(
    'members',
    'invite',
    '--account',
    accountId as string,
    '--email',
    'bob@example.org',
  );
  expect(invited).toMatchObject({ email: 'bob@example.org', role: 'owner' });
  expect(invited.path).toBe(`/sign-up#email=bob%40example.org&code=${invited.code}`);
  const { code } = invited;
  const bob = browser();
  const answer = await bob.post('/v1/auth/sign-up', { email: 'bob@example.org', password: PASSWORD, code });
  expect(answer.body.account.id).toBe(accountId);
  const member = answer.body.member.id as string;
  expect(await cli('members', 'list', '--account', accountId as string)).toMatchObject({
    memberId: member,
    role: 'owner',
  });
  const options = ['--account', accountId as string, '--member', member];
  await expect(cli('members', 'remove', ...options)).rejects.toThrow('this is the last owner of the account');
  await expect(cli('members', 'set-role', ...options, '--role', 'viewer')).rejects.toThrow('last owner');
}, 60_000);

it('the command line prints a link that resets a forgotten password once', async () => {
  const { path } = await cli('members', 'reset-password', '--email', 'ada@example.org');
  const token = new URLSearchParams((path as string).split('#')[1]).get('token');
  const confirm = () =>
    browser().post('/v1/auth/password/reset/confirm', { token, new_password: 'other words in a row' });
  expect((await confirm()).status).toBe(204);
  expect((await confirm()).status).toBe(400);
  await expect(cli('members', 'reset-password', '--email', 'eve@example.org')).rejects.toThrow(
    'No member has the address eve@example.org.',
  );
}, 60_000);

it('the command line ends the sessions that an older copy of Postgres has brought back', async () => {
  const cat = browser();
  await cat.post('/v1/auth/sign-in', { email: 'bob@example.org', password: PASSWORD });
  const session = async () => (await cat.get('/v1/auth/session')).status;
  const { cookie } = cat;
  const database = await openDatabase(stores.databaseUrl, 'spec', 1);
  await database.query('CREATE TABLE copy AS SELECT * FROM sessions');
  expect((await cat.post('/v1/auth/sign-out')).status).toBe(204);
  cat.cookie = cookie;
  expect(await session()).toBe(401);
  await database.query('INSERT INTO sessions SELECT * FROM copy ON CONFLICT DO NOTHING; DROP TABLE copy');
  await database.destroy();
  expect(await session()).toBe(200);
  expect((await cli('members', 'sign-out')).ended).toBeGreaterThan(0);
  expect(await session()).toBe(401);
}, 60_000);
