import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
      `${file} is missing, but ${dataDir}/postgres exists, and only that file has its passwords. Restore `,
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
  });
});

describe('the credentials of NATS and ClickHouse', () => {
  const credentials = join(base, 'nats.json');

  it('are created once, and only the owner can read them', () => {
    const made = readOrMakeCredentials(credentials);
    expect(readOrMakeCredentials(credentials)).toEqual(made);
    expect(statSync(credentials).mode & 0o777).toBe(0o600);
  });

  it('can be created again: the error about a damaged file names the file and says so', () => {
    writeFileSync(credentials, '');
    expect(() => readOrMakeCredentials(credentials)).toThrow(
      `${credentials} is damaged (Unexpected end of JSON input). Remove it`,
    );
  });
});
