import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '#embedded';
import { createTemplate, dropTemplate, type SharedStores } from '#testing';

let stop: (() => Promise<void>) | undefined;

/** The time zone of the stores: not UTC, so that specs find statements that depend on the time zone of a server. */
const STORES_ZONE = 'Asia/Tokyo';

/**
 * Starts one Postgres and one ClickHouse for the whole run. Uses the servers in `DATABASE_URL` and `CLICKHOUSE_URL`
 * instead, if these are set. Specs use separate databases on them.
 */
export async function startSharedStores(): Promise<SharedStores> {
  const dataDir = mkdtempSync(join(tmpdir(), 'earshot-test-'));
  const ownZone = process.env.TZ;
  process.env.TZ = STORES_ZONE;
  const stores = await startEmbedded({
    dataDir,
    // Specs start separate NATS servers, because streams have no namespaces.
    natsUrl: 'nats://unused',
    databaseUrl: process.env.DATABASE_URL,
    clickhouseUrl: process.env.CLICKHOUSE_URL,
    log: { info: () => {}, warn: (line) => process.stderr.write(`${line}\n`) },
  }).finally(() => {
    if (ownZone === undefined) delete process.env.TZ;
    else process.env.TZ = ownZone;
  });
  const stopServers = async () => {
    await stores.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  stop = stopServers;
  const { databaseUrl, clickhouseUrl } = stores;
  const shared = await createTemplate({ databaseUrl, clickhouseUrl });
  stop = () => dropTemplate(shared).finally(stopServers);
  return shared;
}

/** Stops the shared stores. Does nothing if they did not start. */
export async function stopSharedStores(): Promise<void> {
  await stop?.();
  stop = undefined;
}
