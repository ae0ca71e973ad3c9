import { setFlagsFromString } from 'node:v8';
import { runProgram } from '#platform';
import { readInstallationSettings, startInstallation } from './installation.js';
import { signUpCode } from './sign-up-code.js';

/**
 * Percent by which the heap can grow beyond the live objects before garbage is collected. Without this limit, V8 let
 * the heap of all services together grow from 110 to 300 MiB between two collections on a busy machine (`bench:soak`).
 * A service that runs alone has a smaller heap and keeps V8's default: with 50 percent, delivery took a seventh more
 * processor time (`bench:webhooks`).
 */
const HEAP_GROWTH_PERCENT = 50;

const HELP = `Earshot: all services in one process.

  npm start             with embedded stores, or with the stores at NATS_URL, DATABASE_URL and CLICKHOUSE_URL
  npm run demo          the same with simulated upstreams, a demo account and a webhook receiver
  npm run -s cli -- --help    the commands for accounts, keywords, credits, checks and repairs
  npm run -s config     every setting with its default
`;

setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else if (process.argv.includes('--demo')) {
  // Only the demo needs the simulator. Loading the simulator takes a twentieth of the time of a start.
  const { startDemo } = await import('./demo.js');
  await runProgram(
    () => readInstallationSettings(process.env),
    (_, stopping) => startDemo(process.env, print, stopping),
    ['--demo'],
  );
} else {
  await runProgram(
    () => readInstallationSettings(process.env),
    async (_, stopping) => {
      const installation = await startInstallation(process.env, print, stopping);
      print(`Earshot is running at ${installation.address}`);
      const code = await signUpCode(installation.env);
      if (code !== undefined) {
        // The code is printed on standard output, without other lines, so that programs can read it.
        process.stdout.write(`Sign-up code: ${code}\n`);
        print(`Sign up with this code at ${installation.address}/sign-up`);
      }
      return installation;
    },
  );
}

function print(line: string): void {
  process.stderr.write(`${line}\n`);
}
