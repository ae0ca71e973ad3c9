import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';

const library = new URL('dist/libs/platform/index.js', checkout).href;

/** Runs a program whose start takes `startMs` and whose stop takes `stopMs`. Returns when it prints `starting`. */
async function run(startMs: number, stopMs: number, more: Record<string, unknown> = {}) {
  const script = `
    const { runProgram } = await import(${JSON.stringify(library)});
    const { startMs, stopMs, fails, grace } = JSON.parse(process.env.CASE);
    const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    await runProgram(() => ({ SHUTDOWN_GRACE_MS: grace }), async (_, stopping) => {
      console.log('starting');
      await after(startMs);
      if (fails) throw new Error('the port is taken');
      return { stop: async () => { await after(stopMs); console.log('stopped'); } };
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      ...process.env,
      CASE: JSON.stringify({ startMs, stopMs, grace: 1000, ...more }),
      NODE_OPTIONS: '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const output = createInterface(child.stdout).on('line', (line) => lines.push(line));
  child.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString().trim()));
  await once(output, 'line');
  return { child, lines, ended: once(child, 'close') };
}

it('--help of a single service prints how to start it, and needs no settings', () => {
  const service = fileURLToPath(new URL('dist/apps/gateway/main.js', checkout));
  const { status, stdout, stderr } = spawnSync(process.execPath, [service, '--help'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('npm run -s config');
});

it.each(['earshot', 'gateway'])('%s does not start with an unknown argument, and prints it', (app) => {
  const program = fileURLToPath(new URL(`dist/apps/${app}/main.js`, checkout));
  const options = { encoding: 'utf8', timeout: 5000, env: { ...process.env, PORT: 'x' } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--demmo'], options);
  const message = 'unknown argument --demmo: settings are environment variables; see --help\n';
  expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: message });
});

it('a signal during the start stops the program after the start, and further signals change nothing', async () => {
  const { child, lines, ended } = await run(400, 300);
  for (let n = 0; n < 3; n += 1) {
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  expect(await ended).toEqual([0, null]);
  expect(lines).toEqual(['starting', 'stopped']);
});

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s stops a running program', async (signal) => {
  const { child, lines, ended } = await run(0, 0);
  child.kill(signal);
  expect(await ended).toEqual([0, null]);
  expect(lines).toEqual(['starting', 'stopped']);
});

it('a start that fails after a signal exits with code 0, like a cancelled start', async () => {
  const { child, lines, ended } = await run(300, 0, { fails: true });
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(lines).toEqual(['starting']);
});

it('a start that fails prints the reason in one line', async () => {
  const { lines, ended } = await run(0, 0, { fails: true });
  expect(await ended).toEqual([1, null]);
  expect(lines).toEqual(['starting', 'the port is taken']);
});

it('a stop that hangs is interrupted and reported', async () => {
  const { child, lines, ended } = await run(0, 60_000, { grace: 1 });
  child.kill('SIGINT');
  expect(await ended).toEqual([1, null]);
  expect(lines.at(-1)).toBe('The stop took too long. Work that was still running was interrupted.');
});
