import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#embedded';
import { temporaryDirectory, type Cleanup } from '../harness.js';

/**
 * Starts a Redis for the bench, configured like a BullMQ installation whose jobs must survive: appendonly, flushed to
 * the disk every second (nats-server 2.9 does not flush each message either), without eviction.
 * @returns its port; undefined if redis-server is not installed
 */
export async function startRedis(cleanup: Cleanup): Promise<number | undefined> {
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'].filter(Boolean);
  const program = places.map((place) => join(place, 'redis-server')).find((file) => existsSync(file));
  if (!program) return undefined;
  const port = await freePort();
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: temporaryDirectory(cleanup),
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
  };
  const child = spawn(
    program,
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    {
      stdio: 'ignore',
    },
  );
  cleanup.add(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await accepts(port)) return port;
    await wait(50);
  }
  throw new Error('redis-server did not start');
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
