import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedLog } from './store-process.js';

const DIRECTORIES = ['nats', 'postgres', 'clickhouse', 'logs'];
const FILES = ['master.key', 'nats.json', 'nats.conf', 'postgres.json', 'clickhouse.json'];

/**
 * Makes the data of the stores, and the files with keys and passwords, private again if all users can access them.
 * Earshot creates them for their owner only, but a restore can change this. Postgres then refuses to start.
 */
export function makePrivate(dataDir: string, log: EmbeddedLog): void {
  for (const name of [...DIRECTORIES, ...FILES]) {
    const path = join(dataDir, name);
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o007) === 0) continue;
    try {
      chmodSync(path, DIRECTORIES.includes(name) ? 0o700 : 0o600);
      log.warn(`all users could access ${path}; now only its owner can`);
    } catch (error) {
      log.warn(`all users can access ${path}, and its mode cannot be changed: ${(error as Error).message}`);
    }
  }
}
