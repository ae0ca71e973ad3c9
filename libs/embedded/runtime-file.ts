import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, identifySelf, parseIdentity } from './process-identity.js';

/** What the command line must know about a running installation. */
export interface Runtime {
  pid: number;
  natsUrl: string;
  databaseUrl: string;
  clickhouseUrl: string;
  /** ISO 8601, UTC. */
  startedAt: string;
}

type RuntimeUrls = Pick<Runtime, 'natsUrl' | 'databaseUrl' | 'clickhouseUrl'>;

/**
 * Returns the installation that runs on this data directory; undefined if there is none.
 * @throws Error if this user is not allowed to read its file
 */
export function readRuntime(dataDir: string): Runtime | undefined {
  let text: string;
  try {
    text = readFileSync(runtimeFile(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return undefined;
    throw new Error(
      `${runtimeFile(dataDir)} cannot be read by this user; run the command as the user that runs Earshot, or set NATS_URL, DATABASE_URL and CLICKHOUSE_URL`,
      { cause: error },
    );
  }
  const written = parseRuntime(text);
  if (!written || !isRunning(written.process)) return undefined;
  return written.runtime;
}

/**
 * Records that this process runs an installation here. Only the owner is allowed to read the file, because it contains
 * passwords.
 */
export function writeRuntime(dataDir: string, urls: RuntimeUrls): void {
  const file = runtimeFile(dataDir);
  const self = identifySelf();
  const runtime: Runtime = { pid: self.pid, ...urls, startedAt: new Date().toISOString() };
  const content = { ...runtime, process: self };
  writeFileSync(`${file}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Deletes the record. */
export function removeRuntime(dataDir: string): void {
  rmSync(runtimeFile(dataDir), { force: true });
}

function runtimeFile(dataDir: string): string {
  return join(dataDir, 'runtime.json');
}

function parseRuntime(text: string) {
  try {
    const content = JSON.parse(text) as Runtime & { process?: unknown };
    const identity = parseIdentity(JSON.stringify(content.process));
    if (!identity) return undefined;
    const { pid, natsUrl, databaseUrl, clickhouseUrl, startedAt } = content;
    return { process: identity, runtime: { pid, natsUrl, databaseUrl, clickhouseUrl, startedAt } };
  } catch {
    return undefined;
  }
}
