import type { Command } from 'commander';
import { print, wholeNumber } from '../arguments.js';
import { findInstallation, openBus, openInstalledClickHouse, openInstalledDatabase } from '../connection.js';
import { checkInstallation, type Finding } from './doctor.js';

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
      const findings = await examine(process.env, events);
      findings.forEach(print);
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}

/**
 * Opens the stores and checks the installation. A store that cannot be reached is a finding, and the checks that do not
 * need it still run.
 */
async function examine(env: NodeJS.ProcessEnv, events: number): Promise<Finding[]> {
  findInstallation(env);
  const unreachable: Finding[] = [];
  const orFinding = <T>(store: string, opening: Promise<T>): Promise<T | undefined> =>
    opening.catch(({ message }: Error) => {
      unreachable.push({ check: `${store} answers`, ok: false, detail: message });
      return undefined;
    });
  const [bus, database, clickhouse] = await Promise.all([
    orFinding('NATS', openBus(env)),
    orFinding('Postgres', openInstalledDatabase(env)),
    orFinding('ClickHouse', openInstalledClickHouse(env)),
  ]);
  try {
    return [...unreachable, ...(await checkInstallation({ env, bus, database, clickhouse }, events))];
  } finally {
    await Promise.all([bus?.close(), database?.destroy(), clickhouse?.close()]);
  }
}
