import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@clickhouse/client';
import { freePort, readRuntime } from '#embedded';
import { ApiClient, beginProgram, checkout, type Program, startProgram, until } from '#testing';
import { startSimulator, simulatedSources, type Simulator } from '../apps/simulator/index.js';

// Tests rows of the table under "Backup and restore" in docs/operations.md.

const run = promisify(execFile);
const cliFile = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));
const directory = mkdtempSync(join(tmpdir(), 'earshot-restore-'));
const dataDir = join(directory, 'data');
const backup = join(directory, 'backup');
let simulator: Simulator;
let env: NodeJS.ProcessEnv;
let earshot: Program;
let account: { accountId: string; apiKey: string };
let keywordId: string;

beforeAll(async () => {
  simulator = await startSimulator({ seed: 3 });
  const { PATH, HOME } = process.env;
  env = {
    ...{ PATH, HOME, DATA_DIR: dataDir, HOST: '127.0.0.1', LOG_LEVEL: 'error' },
    ...{ INTERVAL_FLOOR_SECONDS: '1', EGRESS_ALLOW: '127.0.0.0/8' },
    ...simulatedSources(simulator.url),
  };
});

afterAll(async () => {
  await earshot?.stop();
  await simulator?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs a command. @returns its exit code, and every line of its output as JSON */
async function cli(...args: string[]) {
  const { stdout, code } = await run(process.execPath, [cliFile, ...args], { env }).then(
    (done) => ({ ...done, code: 0 }),
    (error: { stdout: string; code: number }) => error,
  );
  const lines = stdout.trim().split('\n').filter(Boolean);
  return { code, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

async function refusedStart(): Promise<string> {
  const program = beginProgram('earshot', env, await freePort());
  await program.ended;
  expect(program.child.exitCode).toBe(1);
  return program.output();
}

const api = () => new ApiClient(earshot.url, account.apiKey);

async function state() {
  const { body: keyword } = await api().get(`/v1/keywords/${keywordId}`);
  const { body: credits } = await api().get('/v1/credits');
  return {
    name: keyword.name as string,
    version: keyword.version as number,
    watches: (keyword.watches as { id: string }[]).map(({ id }) => id),
    plan: credits.plan as string,
    packs: credits.packs as unknown[],
  };
}

describe('an installation', () => {
  let before: Awaited<ReturnType<typeof state>>;

  it('passes every check of `doctor` if nothing is lost', async () => {
    earshot = await startProgram('earshot', env);
    const [opened] = (await cli('accounts', 'create', '--email', 'ada@example.org', '--plan', 'growth'))
      .lines;
    account = opened as typeof account;
    await cli('credits', 'grant', '--account', account.accountId, '--amount', '5');
    const made = await api().post('/v1/keywords', {
      name: 'Zephyr Kettle',
      refresh_interval_seconds: 1,
      global_criteria: { market: 'global', query: 'Zephyr Kettle' },
      sources: [{ source: 'hackernews', enabled: true }],
    });
    expect(made.status).toBe(201);
    keywordId = made.body.id as string;
    await until('the first check is done', async () => {
      const { body } = await api().get(`/v1/keywords/${keywordId}`);
      return body.watches[0].lastStatus === 'completed';
    });
    simulator.world.publish('hackernews', { title: 'Zephyr Kettle is out', text: 'Zephyr Kettle' });
    await until(
      'the mention is there',
      async () => (await api().get('/v1/mentions')).body.data.length === 1,
      30_000,
    );
    before = await state();
    const { code, lines } = await cli('doctor');
    expect(lines.filter(({ ok }) => !ok)).toEqual([]);
    expect(code).toBe(0);
    await earshot.stop();
    cpSync(join(dataDir, 'nats'), join(backup, 'nats'), { recursive: true });
  }, 120_000);

  it('rebuilds a lost Postgres from the streams', async () => {
    rmSync(join(dataDir, 'postgres'), { recursive: true });
    earshot = await startProgram('earshot', env);
    expect(await state()).toEqual(before);
    expect((await api().patch(`/v1/keywords/${keywordId}`, { name: 'Zephyr' })).status).toBe(200);
    expect((await cli('doctor')).lines.filter(({ ok }) => !ok)).toEqual([]);
  }, 120_000);

  it('rebuilds projections by name while Earshot runs', async () => {
    const names = (await cli('projections', 'list')).lines.map(({ name }) => name as string);
    expect(names).toEqual(
      expect.arrayContaining(['accounts-v1', 'keywords-v1', 'schedule-v1', 'events-index-v1']),
    );
    const now = await state();
    // These names cover each way of rebuilding once. Two other specs test more about rebuilds:
    // apps/earshot/projections.long.spec.ts and libs/decisions/rebuild.long.spec.ts.
    const some = ['accounts-v1', 'keywords-v1', 'schedule-v1', 'labels-v1', 'events-index-v1'];
    expect((await cli('projections', 'rebuild', ...some)).code).toBe(0);
    expect(await state()).toEqual(now);
    const infos = (await cli('streams', 'info')).lines;
    expect(infos.find(({ stream }) => stream === 'ACCOUNTS')).toMatchObject({ messages: 1, lastSequence: 1 });
  }, 300_000);

  it('finds differences between the index of events and the stream, and repairs the index', async () => {
    const indexFinding = async () =>
      (await cli('doctor')).lines.find(({ check }) => check === 'the index of events agrees with the stream');
    await until('the index is written', async () => (await indexFinding())?.ok === true);
    const clickhouse = createClient({ url: readRuntime(dataDir)?.clickhouseUrl ?? '' });
    const unknownEvent = {
      watch_id: keywordId,
      occurred_at: new Date().toISOString().slice(0, 19),
      event_id: keywordId,
      account_id: keywordId,
    };
    await clickhouse.insert({
      table: 'events',
      values: [{ ...unknownEvent, stream_seq: 1e6 }],
      format: 'JSONEachRow',
    });
    expect(await indexFinding()).toMatchObject({
      ok: false,
      detail: expect.stringContaining(`missingInStream: ${keywordId}`),
    });
    await clickhouse.command({ query: 'ALTER TABLE events DELETE WHERE 1 SETTINGS mutations_sync = 2' });
    await clickhouse.close();
    expect(await indexFinding()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('missingInIndex: '),
    });
    await cli('projections', 'rebuild', 'events-index-v1');
    await until('the index is complete again', async () => (await indexFinding())?.ok === true, 30_000);
    await earshot.stop();
  }, 120_000);

  it('refuses to start if NATS was lost and Postgres was kept, and says what to do', async () => {
    renameSync(join(dataDir, 'nats'), join(directory, 'lost'));
    const output = await refusedStart();
    expect(output).toContain('NATS has lost messages that Postgres has applied: ');
    expect(output).toMatch(/KEYWORDS ends at message 0, and Postgres has applied messages up to \d+/);
    expect(output).toContain("Put NATS' directory (DATA_DIR/nats) back from a backup");
  }, 60_000);

  it('refuses an older backup of NATS with a newer Postgres, but accepts it with an empty Postgres', async () => {
    rmSync(join(dataDir, 'nats'), { recursive: true });
    cpSync(join(backup, 'nats'), join(dataDir, 'nats'), { recursive: true });
    expect(await refusedStart()).toContain('NATS has lost messages that Postgres has applied: ');
    rmSync(join(dataDir, 'postgres'), { recursive: true });
    earshot = await startProgram('earshot', env);
    expect(await state()).toEqual(before);
  }, 120_000);
});
