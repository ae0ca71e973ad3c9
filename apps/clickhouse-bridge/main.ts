import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { lockDirectory, readOrMakeCredentials } from '#embedded';
import { BridgeServer } from './bridge-server.js';

const HELP = `The embedded ClickHouse: chDB behind ClickHouse's HTTP interface.

  node dist/apps/clickhouse-bridge/main.js --dir DIRECTORY [--port 0] [--credentials FILE] [--exit-with-stdin]

  --dir DIRECTORY      directory of the data
  --port PORT          on 127.0.0.1; 0: a free port (default: 0)
  --credentials FILE   {"user": …, "password": …}, created if it is missing (default: DIRECTORY/credentials.json)
  --exit-with-stdin    end when standard input ends
`;

/**
 * Runs the bridge with the options in `HELP`. Every request must have the credentials in the file. Prints `{"port":N}`
 * when the bridge accepts requests. With `--exit-with-stdin`, the bridge also ends when the process that started it
 * crashes, because the crash closes standard input.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      port: { type: 'string', default: '0' },
      credentials: { type: 'string' },
      'exit-with-stdin': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  if (!values.dir) throw new Error('--dir is missing; --help shows the options');
  const directory = resolve(values.dir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = lockDirectory(directory);
  const credentials = readOrMakeCredentials(values.credentials ?? join(directory, 'credentials.json'));
  const { bridge, port } = await BridgeServer.start(directory, Number(values.port), credentials);

  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    const hasEnded = await bridge.stop();
    lock.release();
    // A statement that has not ended even after KILL QUERY would prevent a normal exit. Then the process kills itself.
    if (hasEnded) process.exit(0);
    process.kill(process.pid, 'SIGKILL');
  };
  process.on('SIGTERM', () => void end());
  process.on('SIGINT', () => void end());
  if (values['exit-with-stdin']) {
    process.stdin.on('end', () => void end()).on('error', () => void end());
    process.stdin.resume();
  }
  console.log(JSON.stringify({ port }));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
