import type { Command } from 'commander';
import { print, wholeNumber } from '../arguments.js';
import { settledWithin, within } from '#kernel';
import { findInstallation, openBus, openInstalledClickHouse, openInstalledDatabase } from '../connection.js';
import { checkInstallation, type Finding } from './doctor.js';

/** Maximum time of opening a store. A cluster of NATS that elects a leader answers nothing for 4 to 9 s. */
const OPENED_WITHIN_MS = 15_000;
/** Maximum time of closing the connections. The process ends anyway. */
const CLOSED_WITHIN_MS = 500;

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
 * Opens the stores and checks the installation. A store that cannot be reached, or does not answer, is a finding, and
 * the checks that do not need it still run.
 */
async function examine(env: NodeJS.ProcessEnv, events: number): Promise<Finding[]> {
  findInstallation(env);
  const unreachable: Finding[] = [];
  const orFinding = async <T>(
    store: string,
    setting: string,
    opening: Promise<T>,
  ): Promise<T | undefined> => {
    let detail = `${store} did not answer within ${OPENED_WITHIN_MS / 1000} s (${setting})`;
    try {
      if (await within(OPENED_WITHIN_MS, opening)) return await opening;
    } catch (error) {
      detail = (error as Error).message;
    }
    unreachable.push({ check: `${store} answers`, ok: false, detail });
    return undefined;
  };
  const [bus, database, clickhouse] = await Promise.all([
    orFinding('NATS', 'NATS_URL', openBus(env)),
    orFinding('Postgres', 'DATABASE_URL', openInstalledDatabase(env)),
    orFinding('ClickHouse', 'CLICKHOUSE_URL', openInstalledClickHouse(env)),
  ]);
  try {
    return [...unreachable, ...(await checkInstallation({ env, bus, database, clickhouse }, events))];
  } finally {
    const closing = [bus?.close(), database?.destroy(), clickhouse?.close()];
    await settledWithin(CLOSED_WITHIN_MS, Promise.allSettled(closing));
  }
}
