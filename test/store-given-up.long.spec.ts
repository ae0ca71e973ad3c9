import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '#testing';

const directory = mkdtempSync(join(tmpdir(), 'earshot-given-up-'));
const dataDir = join(directory, 'data');

afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('an installation whose store keeps exiting ends with code 1 and one sentence that names the store and the reason', async () => {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: dataDir, HOST: '127.0.0.1', LOG_LEVEL: 'silent' };
  const earshot = await startProgram('earshot', env);
  // From now on nats-server cannot start, and logs the reason.
  writeFileSync(join(dataDir, 'nats.conf'), 'port: "none"\n');
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'nats.pid'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  await earshot.ended;
  expect(earshot.child.exitCode).toBe(1);
  const sentence = earshot
    .output()
    .split('\n')
    .find((line) => line.startsWith('Earshot stops'));
  expect(sentence).toMatch(
    /^Earshot stops, because it cannot continue: nats is not started again: it ended 6 times \(exit code 1\)\. Its last output: nats-server: .+nats\.log\)$/,
  );
}, 120_000);
