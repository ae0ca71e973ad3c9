import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
