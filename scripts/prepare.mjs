import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

/** The folder of the checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const INSTALL_STAMP = join(root, 'node_modules/.earshot-installed');
const INSTALL_OPTIONS = ['--include=dev', '--include=optional', '--no-audit', '--no-fund'];
const BUILD_STAMP = join(root, 'dist/.earshot-built');
const OUTPUT_CHARACTERS = 50_000;
/** The inputs of the build, in addition to `tsconfig*.json`. */
const SOURCES = [
  'apps',
  'clients/typescript/src',
  'examples',
  'libs',
  'bench',
  'proto',
  'scripts',
  'package.json',
  'package-lock.json',
];

/**
 * Installs and builds what is missing or out of date. Takes about a tenth of a second if there is nothing to do. If
 * two processes call this function, the second process waits for the first.
 * @throws Error with `exitCode` if the install or the build fails
 */
export async function prepare(tell) {
  if (isInstalled() && isBuilt()) return;
  refuseFolder();
  // The lock is not in node_modules, because an install removes that folder.
  mkdirSync(join(root, 'dist'), { recursive: true });
  await withLock(join(root, 'dist/.earshot-prepare.lock'), tell, async () => {
    if (!isInstalled()) await install(tell);
    if (!isBuilt()) await build(tell);
  });
}

/** Refuses a path with # or ?. Vite reads these characters as parts of an address, and then reports missing exports. */
function refuseFolder() {
  if (!/[#?]/.test(root)) return;
  const message = `Earshot cannot be built in a folder whose path contains # or ?: move ${root}`;
  throw Object.assign(new Error(message), { exitCode: 1 });
}

async function install(tell) {
  const wanted = installSignature();
  if (isInstalledManually()) return writeFileSync(INSTALL_STAMP, wanted);
  tell('installing packages (npm ci), which takes a minute the first time …');
  rmSync(INSTALL_STAMP, { force: true });
  await npm(['ci', ...INSTALL_OPTIONS], 'npm ci', 'quiet');
  writeFileSync(INSTALL_STAMP, wanted);
}

async function build(tell) {
  // Computed before the build, so that files changed during the build are built the next time.
  const wanted = buildSignature();
  tell('building …');
  rmSync(BUILD_STAMP, { force: true });
  // `npm run typecheck` checks the types. It takes longer than this whole build.
  await npm(['run', '--silent', 'build:fast'], 'the build');
  writeFileSync(BUILD_STAMP, wanted);
}

function isInstalled() {
  return readText(INSTALL_STAMP) === installSignature();
}

function isBuilt() {
  return readText(BUILD_STAMP) === buildSignature();
}

function installSignature() {
  const { modules } = process.versions;
  return digest([readText(join(root, 'package-lock.json')), modules, process.platform, process.arch]);
}

/**
 * Returns a hash of the names, sizes and times of the inputs, without specs. Reading the contents would take too long.
 */
function buildSignature() {
  const tsconfigs = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name));
  const seen = [];
  for (const path of [...SOURCES, ...tsconfigs]) collect(path, seen);
  return digest(seen);
}

function collect(path, seen) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) {
    seen.push(`${path}:${stat.size}:${stat.mtimeMs}`);
    return;
  }
  for (const name of readdirSync(join(root, path)).sort())
    if (!name.startsWith('.') && name !== 'node_modules' && !/\.spec\.tsx?$/.test(name))
      collect(`${path}/${name}`, seen);
}

/**
 * Returns true if the packages that npm recorded match the lock file, for example because a person has run `npm ci`. A
 * new install is then not needed, and would remove packages that a running program uses.
 */
function isInstalledManually() {
  try {
    const wanted = JSON.parse(readText(join(root, 'package-lock.json'))).packages;
    const there = JSON.parse(readText(join(root, 'node_modules/.package-lock.json'))).packages;
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '') return true;
      const installed = there[path];
      // Packages for other platforms are left out of an install.
      if (!installed) return entry.optional === true || entry.devOptional === true || entry.peer === true;
      return installed.version === entry.version && installed.integrity === entry.integrity;
    });
  } catch {
    return false;
  }
}

/**
 * Runs npm, and ends it when this process is asked to end. The output of npm goes to our standard error. With `quiet`,
 * nothing is printed: if npm fails, the last part of its output is in the message of the error.
 */
function npm(args, what, quiet) {
  const cli = process.env.npm_execpath;
  const [file, before] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...before, ...args], {
      cwd: root,
      stdio: ['ignore', quiet ? 'pipe' : process.stderr, quiet ? 'pipe' : process.stderr],
      env: { ...process.env, npm_config_loglevel: 'error' },
    });
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-OUTPUT_CHARACTERS));
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    let interrupted;
    const stop = (signal) => {
      interrupted = signal;
      child.kill(signal);
    };
    process.on('SIGINT', stop).on('SIGTERM', stop);
    const fail = (message, exitCode) => reject(Object.assign(new Error(message), { exitCode }));
    child.once('error', (error) => fail(`${what} cannot be run: ${error.message}`, 1));
    child.once('close', (code) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      if (interrupted) fail(`${what} was interrupted`, interrupted === 'SIGINT' ? 130 : 143);
      else if (code === 0) resolve();
      else fail(`${output}${what} failed`, code ?? 1);
    });
  });
}

function digest(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part}\n`);
  return hash.digest('hex');
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
