import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asNobody } from '#testing';
import { readOrMakeCredentials } from './credentials.js';
import { startEmbedded } from './embedded-stores.js';

const log = { info: () => undefined, warn: () => undefined };
const base = mkdtempSync(join(tmpdir(), 'credentials-'));
const dataDir = join(base, 'data');
const file = join(dataDir, 'postgres.json');
let original: string;

/** Starts only Postgres. */
const start = () =>
  startEmbedded({
    dataDir,
    natsUrl: 'nats://n',
    clickhouseUrl: 'http://c',
    log,
    signal: AbortSignal.timeout(10_000),
  });

function messageOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

beforeAll(async () => {
  chmodSync(base, 0o755);
  await (await start()).stop();
  original = readFileSync(file, 'utf8');
});

afterEach(() => writeFileSync(file, original));
afterAll(() => rmSync(base, { recursive: true }));

describe('a start of Postgres on an existing cluster', () => {
  it('fails at once and writes no file if postgres.json is missing', async () => {
    rmSync(file);
    await expect(start()).rejects.toThrow(
      `${file} is missing. No other file has the passwords of the database in ${dataDir}/postgres. Restore `,
    );
    expect(existsSync(file)).toBe(false);
  });

  it('fails at once and leaves no process if postgres.json has another password', async () => {
    writeFileSync(file, JSON.stringify({ admin: 'another', role: 'another' }));
    await expect(start()).rejects.toThrow(`Postgres refuses the password in ${file}. Restore `);
    expect(existsSync(join(dataDir, 'postgres.pid'))).toBe(false);
  });

  it('fails at once and names the file if postgres.json is damaged', async () => {
    writeFileSync(file, '');
    await expect(start()).rejects.toThrow(`${file} is damaged (Unexpected end of JSON input). Restore `);
    writeFileSync(file, JSON.stringify({ admin: 'a' }));
    await expect(start()).rejects.toThrow(`${file} is damaged (it lacks role). Restore `);
  });
});

// Only root can give files to another user.
(process.getuid?.() === 0 ? it : it.skip)(
  'root can start Earshot with data that another user owns, and with data that root owns',
  async () => {
    for (const owner of ['nobody', 'root']) {
      execFileSync('chown', ['-R', owner, dataDir]);
      await (await start()).stop();
    }
  },
);

it('a start makes a data directory private again if a restore has made it readable for all users, and reports this', async () => {
  const warn = jest.fn();
  const startBoth = () => startEmbedded({ dataDir, clickhouseUrl: 'http://c', log: { ...log, warn } });
  await (await startBoth()).stop();
  writeFileSync(join(dataDir, 'master.key'), '');
  execFileSync('chmod', ['-R', 'a+rX', dataDir]);
  await (await startBoth()).stop();
  const files = ['master.key', 'nats.json', 'nats.conf', 'postgres.json'];
  const modes = [...files, 'nats', 'postgres'].map((name) => statSync(join(dataDir, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600, 0o700, 0o700]);
  expect(warn).toHaveBeenCalledWith(
    `all users could access ${join(dataDir, 'master.key')}; now only its owner can`,
  );
});

describe('the credentials of NATS and ClickHouse', () => {
  const credentials = join(base, 'nats.json');

  it('are created once, and only the owner can read them', () => {
    const made = readOrMakeCredentials(credentials);
    expect(readOrMakeCredentials(credentials)).toEqual(made);
    expect(statSync(credentials).mode & 0o777).toBe(0o600);
  });

  it('are reported as damaged if their file is empty, and the error says that the file can be removed', () => {
    writeFileSync(credentials, '');
    expect(() => readOrMakeCredentials(credentials)).toThrow(
      `${credentials} is damaged (Unexpected end of JSON input). Remove it`,
    );
  });

  it.each([
    ['null', 'user and password'],
    ['[]', 'user and password'],
    ['{"user":"earshot","password":""}', 'password'],
    ['{"user":1,"password":"p"}', 'user'],
  ])('are refused as damaged if the file contains %s', (content, missing) => {
    writeFileSync(credentials, content);
    expect(() => readOrMakeCredentials(credentials)).toThrow(
      `${credentials} is damaged (it lacks ${missing}). Remove it`,
    );
  });

  it('cause an error that says to change the owner of the file if this user cannot read it', () => {
    const content = JSON.stringify({ user: 'earshot', password: 'p' });
    writeFileSync(credentials, content);
    chmodSync(credentials, 0);
    const failure = asNobody(() => messageOf(() => readOrMakeCredentials(credentials)));
    expect(failure).toBe(
      `${credentials} cannot be read by this user (EACCES). Change the owner of the file to the user that runs Earshot (chown), and start again.`,
    );
    chmodSync(credentials, 0o600);
    expect(readFileSync(credentials, 'utf8')).toBe(content);
  });

  it('are not called damaged if reading fails for another reason', () => {
    rmSync(credentials);
    mkdirSync(credentials);
    expect(messageOf(() => readOrMakeCredentials(credentials))).toMatch(
      `${credentials} cannot be read (EISDIR`,
    );
  });
});
