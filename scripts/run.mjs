// Entry point of `npm run demo`, `npm start`, `npm test`, `npm run test:long`, `npm run cli` and `npm run config`:
// installs and builds what they need, then runs the program in the same process. It is plain Node, because nothing is
// installed yet.
//
//   node scripts/run.mjs demo|start|test|test:long|cli|config [arguments]
//
// Standard output is reserved for the program; progress is written to standard error.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';
import { refuseOldNode } from './node-version.mjs';

const JEST = 'node_modules/jest/bin/jest.js';

const TARGETS = {
  demo: { program: 'dist/apps/earshot/main.js', args: ['--demo'] },
  start: { program: 'dist/apps/earshot/main.js', args: [] },
  cli: { program: 'dist/apps/earshot/cli.js', args: [] },
  config: { program: 'dist/apps/earshot/cli.js', args: ['config'] },
  test: { program: JEST, args: [], before: ensureServers },
  // No long test needs a browser. `--ci=false` ends the list of `--testMatch`. Without it, the list would include the
  // paths of `args`.
  'test:long': { program: JEST, args: ['--testMatch=**/*.long.spec.ts', '--ci=false'], before: ensureNats },
};

const PARENT_POLL_MS = 500;
/** Headless Chromium, at the path of Debian's package. The browser tests start it. */
const CHROMIUM = '/usr/bin/chromium-headless-shell';

const tell = (message) => process.stderr.write(`${message}\n`);

/** Installs what the tests need from the system. If `args` contains paths, only the tests under these paths run. */
async function ensureServers(args) {
  await ensureNats();
  const { installWithApt } = await import(inRoot('dist/libs/embedded/index.js'));
  const paths = args.filter((arg) => !arg.startsWith('-'));
  if (paths.length > 0 && !paths.some((path) => path.includes('browser'))) return;
  if (existsSync(CHROMIUM)) return;
  tell('installing chromium-headless-shell with apt-get (once), for the browser tests');
  await installWithApt('chromium-headless-shell').catch((error) =>
    tell(
      `Chromium is missing, so the browser tests fail: apt-get install chromium-headless-shell (${error.message})`,
    ),
  );
}

async function ensureNats() {
  const { ensureNatsServer } = await import(inRoot('dist/libs/embedded/index.js'));
  await ensureNatsServer({ info: tell, warn: tell });
}

/**
 * A SIGTERM ends npm and its shell. They do not pass the signal on, so this process would continue without a terminal.
 * Therefore, if npm has started this process, this process sends SIGTERM to itself when its parent has ended.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS);
  watch.unref();
}

function inRoot(path) {
  return pathToFileURL(join(root, path)).href;
}

async function main() {
  const [name, ...rest] = process.argv.slice(2);
  const target = Object.hasOwn(TARGETS, name ?? '') ? TARGETS[name] : undefined;
  if (!target) {
    tell(`usage: node scripts/run.mjs ${Object.keys(TARGETS).join('|')} [arguments]`);
    process.exit(2);
  }
  endWithNpm();
  await prepare(tell);
  await target.before?.(rest);
  // The program takes over this process instead of becoming its child. So the program gets signals and sets the exit
  // code itself, and a Ctrl-C never reaches it twice.
  process.argv.splice(1, process.argv.length, join(root, target.program), ...target.args, ...rest);
  await import(inRoot(target.program));
}

refuseOldNode(tell);
main().catch((error) => {
  tell(error?.exitCode === undefined ? String(error?.stack ?? error) : error.message);
  process.exit(error?.exitCode ?? 1);
});
