// `npm run dev [-- arguments]`: builds on every change (nest build --watch) and starts Earshot again with the new code.
// `nest start --watch` is not used, because it kills the whole process tree at each change: the embedded stores would
// exit before the services that use them. `node --watch` sends SIGTERM only to the program, which stops everything in
// order.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { refuseOldNode } from './node-version.mjs';
import { prepare, root } from './prepare.mjs';

const tell = (message) => process.stderr.write(`${message}\n`);

refuseOldNode(tell);
await prepare(tell);

const run = (...args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
const children = [
  run('node_modules/@nestjs/cli/bin/nest.js', 'build', '--watch', '--preserveWatchOutput'),
  run(
    '--watch',
    '--watch-preserve-output',
    join(root, 'dist/apps/earshot/main.js'),
    ...process.argv.slice(2),
  ),
];
const stop = () => children.forEach((child) => child.kill('SIGTERM'));
process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
await Promise.race(children.map((child) => once(child, 'exit')));
stop();
