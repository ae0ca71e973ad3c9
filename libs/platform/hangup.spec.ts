import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout, until } from '#testing';

const directory = mkdtempSync(join(tmpdir(), 'hangup-'));
const urlOf = (library: string) => JSON.stringify(new URL(`dist/libs/${library}/index.js`, checkout).href);

/** Writes to its terminal while it stops. */
const PROGRAM = `
  const { runProgram } = await import(${urlOf('platform')});
  const { createLogger } = await import(${urlOf('telemetry')});
  const { appendFileSync } = await import('node:fs');
  await runProgram(() => ({ SHUTDOWN_GRACE_MS: 1000 }), async () => {
    console.log('process ' + process.pid);
    return {
      stop: async () => {
        process.stderr.write('stopping\\n');
        createLogger('spec', 'info').info('stopping');
        await new Promise((resolve) => setTimeout(resolve, 300));
        appendFileSync('result', 'stopped, ');
      },
    };
  });`;
/**
 * SIGHUP ends the outer shell, as it ends the shell of a user. Then the kernel sends SIGHUP to the programs of that
 * shell. The inner shell has a handler of SIGHUP, so that it lives until it has written the exit code.
 */
const INNER = `trap : HUP; "$NODE" --input-type=module -e "$PROGRAM"; echo "exit code $?" >> result`;
const OUTER = `sh -c '${INNER}'; true`;

/** The program script (util-linux) runs a command in a new terminal. The terminal is closed when script ends. */
const hasScript = spawnSync('script', ['--version']).status === 0;
let pid: number | undefined;

afterAll(() => {
  if (pid) spawnSync('kill', ['-9', String(pid)]);
  rmSync(directory, { recursive: true });
});

(hasScript ? it : it.skip)(
  'the program stops in order when its terminal is closed, although the program can no longer write output',
  async () => {
    const terminal = spawn('script', ['--quiet', '--command', OUTER, '/dev/null'], {
      cwd: directory,
      env: { ...process.env, NODE: process.execPath, PROGRAM, NODE_OPTIONS: '', SHELL: '/bin/sh' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    terminal.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    pid = await until('the program runs', () => Number(/process (\d+)/.exec(output)?.[1]) || undefined);
    terminal.kill('SIGKILL');
    const result = await until('the program has ended', () => {
      const text = readFileSync(join(directory, 'result'), 'utf8');
      return text.includes('exit code') && text;
    });
    expect(result).toBe('stopped, exit code 129\n');
  },
);
