import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';

it.each(['#', '?'])('npm start says that the folder must be moved if its path contains %s', (character) => {
  const folder = mkdtempSync(join(tmpdir(), `earshot${character}`));
  for (const part of ['scripts', 'package.json', 'package-lock.json'])
    cpSync(fileURLToPath(new URL(part, checkout)), join(folder, part), { recursive: true });
  const script = join(folder, 'scripts/run.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, 'start'], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(stderr).toBe(`Earshot cannot be built in a folder whose path contains # or ?: move ${folder}\n`);
  expect(status).toBe(1);
});
