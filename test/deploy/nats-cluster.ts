import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { findNatsServer, freePort } from '#embedded';
import { until } from '#testing';
import type { ComposeFile } from './compose-file.js';
import { read } from './deployment-files.js';

/** The names of the servers in compose.yaml. */
export const NATS_NAMES = ['nats-0', 'nats-1', 'nats-2'] as const;

interface Server {
  ports: { client: number; route: number; monitor: number };
  process?: ChildProcess;
}

/**
 * The three nats-servers of compose.yaml on this machine: the configuration of deploy/nats and the environment of the
 * containers, with other ports and directories.
 */
export class NatsCluster {
  private readonly directory = mkdtempSync(join(tmpdir(), 'earshot-cluster-'));
  private readonly servers = new Map<string, Server>();
  /** For example `nats-server: v2.12.3`. */
  readonly version = execFileSync(findNatsServer() ?? '', ['--version'], { encoding: 'utf8' }).trim();

  constructor(private readonly compose: ComposeFile) {}

  /** Starts all servers, and waits until each is healthy. */
  async start(): Promise<void> {
    for (const name of NATS_NAMES) {
      const [client, route, monitor] = await Promise.all([freePort(), freePort(), freePort()]);
      this.servers.set(name, { ports: { client, route, monitor } });
    }
    for (const name of NATS_NAMES) this.startServer(name);
    for (const name of NATS_NAMES) await this.isHealthy(name);
  }

  /** Starts a server, for example one that was killed. */
  startServer(name: string): void {
    const server = this.serverOf(name);
    const folder = join(this.directory, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'nats.conf'), this.configurationOf(server, join(folder, 'data')));
    writeFileSync(join(folder, 'users.conf'), read('deploy/nats/users.conf'));
    const env = this.compose.environmentOf(name);
    server.process = spawn(findNatsServer() ?? '', ['--config', join(folder, 'nats.conf')], {
      env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, this.onThisMachine(value)])),
      stdio: 'ignore',
    });
  }

  /** Waits until the server has all data of its streams and consumers. */
  async isHealthy(name: string): Promise<void> {
    const { monitor } = this.serverOf(name).ports;
    await until(
      `${name} is healthy`,
      async () => {
        const { statusCode, body } = await request(`http://127.0.0.1:${monitor}/healthz`);
        const text = await body.text();
        if (statusCode !== 200) throw new Error(text);
        return true;
      },
      60_000,
    );
  }

  /** Kills a server with SIGKILL. */
  async kill(name: string): Promise<void> {
    const { process: child } = this.serverOf(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Replaces the addresses of the servers in the network of Compose with their addresses on this machine. */
  onThisMachine(text: string): string {
    let result = text;
    for (const [name, { ports }] of this.servers)
      result = result
        .replaceAll(`${name}.nats:6222`, `127.0.0.1:${ports.route}`)
        .replaceAll(`${name}:4222`, `127.0.0.1:${ports.client}`);
    return result;
  }

  async remove(): Promise<void> {
    for (const name of this.servers.keys()) await this.kill(name);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private serverOf(name: string): Server {
    const server = this.servers.get(name);
    if (!server) throw new Error(`${name} is not a server of the cluster`);
    return server;
  }

  private configurationOf({ ports }: Server, storeDir: string): string {
    const changes: (readonly [string, string])[] = [
      ['listen: "0.0.0.0:4222"', `listen: "127.0.0.1:${ports.client}"`],
      ['http: "0.0.0.0:8222"', `http: "127.0.0.1:${ports.monitor}"`],
      ['listen: "0.0.0.0:6222"', `listen: "127.0.0.1:${ports.route}"`],
      ['store_dir: "/data"', `store_dir: "${storeDir}"`],
      // A nats-server before 2.10 does not start with this setting.
      ...(this.version.startsWith('nats-server: v2.9.') ? [['sync_interval: always', ''] as const] : []),
    ];
    let text = read('deploy/nats/nats.conf');
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`nats.conf lacks ${from}`);
      text = text.replace(from, to);
    }
    return text;
  }
}
