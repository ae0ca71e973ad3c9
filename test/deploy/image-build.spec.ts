import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ALL_SERVICES, checkout } from '#testing';
import { read } from './deployment-files.js';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'earshot-image-'));
const root = fileURLToPath(checkout);
const env = { PATH: process.env.PATH, HOME: process.env.HOME };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the files that the Dockerfile copies are enough to build the image, and its programs start', async () => {
  const [, stage = ''] = read('deploy/Dockerfile').split(/^FROM /m);
  const copied = [...stage.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
  expect(copied).toContain('apps');
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run('npm', ['run', 'build'], { cwd: folder, env });
  const programs = [...ALL_SERVICES.map((name) => `dist/apps/${name}/main.js`), 'dist/apps/earshot/cli.js'];
  for (const program of programs) {
    const { stdout } = await run(process.execPath, [program, '--help'], { cwd: folder, env });
    expect(stdout).toMatch(/^A single Earshot service|^Usage: cli /);
  }
  expect(existsSync(join(folder, 'dist/apps/dashboard/index.html'))).toBe(true);
}, 240_000);
