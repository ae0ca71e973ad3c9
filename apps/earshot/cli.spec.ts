import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';

const CLI = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));

it('the command line ends without a stack trace when the reader of its output has closed the pipe', async () => {
  const child = spawn(process.execPath, [CLI, 'config'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  expect([await once(child, 'close'), errors]).toEqual([[141, null], '']);
});

it('the command line says in one line that its output cannot be written if the disk is full', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'config'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  const message = 'the output cannot be written: ENOSPC: no space left on device, write\n';
  expect({ status, stderr }).toEqual({ status: 1, stderr: message });
});
