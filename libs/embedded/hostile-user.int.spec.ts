import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { request } from 'undici';
import { startEmbedded, type EmbeddedStores } from './embedded-stores.js';

// Another user of the same machine cannot read the data and the secrets of a running installation.

const TOKEN = 'a-token-of-a-source';
const NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups', '--'];
/** Log lines of the start. */
const logged: string[] = [];
const log = {
  info: (line: string) => void logged.push(line),
  warn: (line: string) => void logged.push(line),
};
const isRoot = process.getuid?.() === 0;
let base: string;
let dataDir: string;
let stores: EmbeddedStores;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'hostile-user-'));
  chmodSync(base, 0o755);
  dataDir = join(base, 'data');
  process.env.SOURCE_REDDIT_TOKEN = TOKEN;
  stores = await startEmbedded({ dataDir, log });
});

afterAll(async () => {
  delete process.env.SOURCE_REDDIT_TOKEN;
  await stores?.stop();
  rmSync(base, { recursive: true, force: true });
});

function bare(url: string): URL {
  const address = new URL(url);
  address.username = '';
  address.password = '';
  return address;
}

/** Returns the passwords of the stores, and the token. */
function secrets(): string[] {
  const passwords = ['postgres.json', 'nats.json', 'clickhouse.json'].flatMap((name) => {
    const { user: _, ...rest } = JSON.parse(readFileSync(join(dataDir, name), 'utf8')) as Record<
      string,
      string
    >;
    return Object.values(rest);
  });
  return [...passwords, TOKEN];
}

/** Returns the process ids of the stores and of their children. */
function storeProcesses(): string[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => [pid, parentOf(pid)]),
  );
  const roots = ['nats', 'postgres', 'clickhouse'].map((name) => {
    const { pid } = JSON.parse(readFileSync(join(dataDir, `${name}.pid`), 'utf8')) as { pid: number };
    return String(pid);
  });
  return [...parents]
    .filter(([pid, parent]) => roots.includes(pid) || roots.includes(parent))
    .map(([pid]) => pid);
}

function parentOf(pid: string): string {
  try {
    return /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}

describe('another user of the machine', () => {
  it('is refused by ClickHouse', async () => {
    for (const query of ['SELECT 1', "SELECT * FROM file('/etc/passwd', LineAsString)"]) {
      const answer = await request(bare(stores.clickhouseUrl), { method: 'POST', body: query });
      expect(answer.statusCode).toBe(403);
      expect(await answer.body.text()).toContain('AUTHENTICATION_FAILED');
    }
  });

  it('is refused by NATS', async () => {
    const { hostname, port } = bare(stores.natsUrl);
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connectSocket(Number(port), hostname);
      socket.on('data', (data) => (text += data.toString()));
      socket.once('close', () => resolve(text));
      socket.write('CONNECT {"verbose":true}\r\nPUB commands.billing.create-key 2\r\n{}\r\nPING\r\n');
    });
    expect(answer).toContain("-ERR 'Authorization Violation'");
    expect(answer).not.toContain('PONG');
  });

  it.each(['earshot', 'earshot_admin', 'postgres'])(
    'cannot sign in to Postgres as %s without the password',
    async (user) => {
      for (const password of ['', user, 'earshot']) {
        const address = bare(stores.databaseUrl);
        const { hostname: host, port } = address;
        const client = new pg.Client({ host, port: Number(port), user, password, database: 'earshot' });
        await expect(client.connect()).rejects.toThrow(/password|SASL/);
        await client.end().catch(() => undefined);
      }
    },
  );

  (isRoot ? it : it.skip)('cannot read any file of the data directory', () => {
    const find = (...options: string[]) =>
      spawnSync('setpriv', [...NOBODY, 'find', dataDir, ...options], { encoding: 'utf8', cwd: '/' }).stdout;
    expect(find('-type', 'f', '-readable')).toBe('');
    expect(find('-writable')).toBe('');
  });

  (isRoot ? it : it.skip)(
    'finds no store that runs as root if this user can read the checkout; otherwise, the log says that ClickHouse runs as root',
    () => {
      const isOpen = spawnSync('setpriv', [...NOBODY, 'test', '-r', import.meta.filename]).status === 0;
      const roots = storeProcesses().filter(
        (pid) => /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] === '0',
      );
      if (isOpen) expect(roots).toEqual([]);
      else expect(logged.join('\n')).toMatch(/clickhouse runs as root: the user earshot cannot reach /);
    },
  );

  it('cannot read the credentials, because their files have mode 0600', () => {
    for (const name of ['postgres.json', 'nats.json', 'nats.conf', 'clickhouse.json', 'runtime.json'])
      expect([name, statSync(join(dataDir, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  (process.platform === 'linux' ? it : it.skip)(
    'sees no secret in the command line of a store, and the environment of a store contains no secret',
    () => {
      const pids = storeProcesses();
      expect(pids.length).toBeGreaterThan(3);
      for (const pid of pids) {
        const [commandLine, environment] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'utf8'),
        );
        for (const secret of secrets()) {
          expect(commandLine).not.toContain(secret);
          expect(environment).not.toContain(secret);
        }
        expect(environment).not.toContain('SOURCE_');
      }
    },
  );
});
