import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../libs/embedded/index.js';

declare module 'vitest' {
  export interface ProvidedContext {
    stores: { databaseUrl: string; clickhouseUrl: string };
  }
}

/** Starts one Postgres and one ClickHouse for the whole run; specs take databases of their own on them. */
export default async function setup(project: TestProject) {
  const dataDir = mkdtempSync(join(tmpdir(), 'earshot-test-'));
  const stores = await startEmbedded({
    dataDir,
    // Specs start NATS servers of their own: streams have no namespaces.
    natsUrl: 'nats://unused',
    databaseUrl: process.env.DATABASE_URL,
    clickhouseUrl: process.env.CLICKHOUSE_URL,
    log: { info: () => {}, warn: (line) => process.stderr.write(`${line}\n`) },
  });
  project.provide('stores', { databaseUrl: stores.databaseUrl, clickhouseUrl: stores.clickhouseUrl });
  return async () => {
    await stores.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
