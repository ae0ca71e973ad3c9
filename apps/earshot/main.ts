import { runProgram } from '#platform';
import { readInstallationSettings, startInstallation } from './installation.js';
import { signUpCode } from './sign-up-code.js';

const HELP = `Earshot: all services in one process.

  npm start             with embedded stores, or with the stores at NATS_URL, DATABASE_URL and CLICKHOUSE_URL
  npm run demo          the same with simulated upstreams, a demo account and a webhook receiver
  npm run -s cli -- --help    accounts, keys, parked messages
  npm run -s config     every setting with its default
`;

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else if (process.argv.includes('--demo')) {
  // The demo is loaded only when it is needed, because it loads the simulator, which takes a twentieth of the time of a
  // start.
  const { startDemo } = await import('./demo.js');
  await runProgram(
    () => readInstallationSettings(process.env),
    (_, stopping) => startDemo(process.env, print, stopping),
  );
} else {
  await runProgram(
    () => readInstallationSettings(process.env),
    async (_, stopping) => {
      const installation = await startInstallation(process.env, print, stopping);
      print(`Earshot is running at ${installation.address}`);
      const code = await signUpCode(installation.env);
      if (code !== undefined) {
        // On standard output, so that programs can read it.
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
