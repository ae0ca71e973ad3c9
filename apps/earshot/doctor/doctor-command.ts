import type { Command } from 'commander';
import { print, wholeNumber } from '../arguments.js';
import { withBus, withClickHouse, withDatabase } from '../connection.js';
import { checkInstallation } from './doctor.js';

/** Adds the command `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check the installation; print one line of JSON for each check; exit code 1 if a check fails',
    )
    .option(
      '--events <number>',
      'number of the newest events to compare with their index',
      wholeNumber,
      10_000,
    )
    .action(async ({ events }: { events: number }) => {
      const { env } = process;
      const findings = await withBus(env, (bus) =>
        withDatabase(env, (database) =>
          withClickHouse(env, (clickhouse) => checkInstallation({ bus, database, clickhouse, env }, events)),
        ),
      );
      findings.forEach(print);
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}
