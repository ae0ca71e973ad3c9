import { systemClock, type Clock } from '#kernel';
import { connectBus } from '#messaging';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { until, type IsolatedStores } from '#testing';
import { audit, type AuditReport } from '../apps/earshot/audit/audit.js';
import { readAccount } from '../apps/earshot/audit/read-account.js';

/**
 * Waits until billing has charged everything, and audits the account: streams, tables and quotes must agree exactly.
 * @param clock clock of the programs
 * @returns the report, for further expectations of the test
 */
export async function expectAuditAgrees(
  stores: IsolatedStores,
  accountId: string,
  clock: Clock = systemClock,
): Promise<AuditReport> {
  const bus = await connectBus(stores.natsUrl, 'audit', createLogger('audit', 'silent'));
  const database = await openDatabase(stores.databaseUrl, 'audit', 2);
  try {
    const report = await until(
      'everything is charged',
      async () => {
        const found = audit({
          ...(await readAccount(bus, database, accountId)),
          now: clock.now().getTime(),
        });
        // Notes mean that some facts are not charged yet.
        return found.faults.length > 0 || found.notes.length === 0 ? found : undefined;
      },
      30_000,
    );
    expect(report.faults).toEqual([]);
    expect(report.agrees).toBe(true);
    return report;
  } finally {
    await database.destroy();
    await bus.close();
  }
}
