import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { freePort } from '#embedded';
import { checkout, until } from '#testing';
import { signatureHeaders } from '../apps/delivery/attempts/signature.js';

const SECRET = 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=';
const OLD_SECRET = 'whsec_b2xkLW9sZC1vbGQtb2xkLW9sZA==';

const file = (path: string) => fileURLToPath(new URL(path, checkout));
const RECEIVERS = [
  {
    language: 'TypeScript',
    command: process.execPath,
    args: [file('dist/examples/receivers/typescript/receiver.js')],
    probe: ['--version'],
  },
  {
    language: 'Python',
    command: 'python3',
    args: [file('examples/receivers/python/receiver.py')],
    probe: ['--version'],
  },
  {
    language: 'Go',
    command: 'go',
    args: ['run', file('examples/receivers/go/receiver.go')],
    probe: ['version'],
  },
];

describe.each(RECEIVERS)('the receiver in $language', ({ language, command, args, probe }) => {
  const isThere = spawnSync(command, probe).status === 0;
  if (!isThere) {
    it.skip(`is not tested here: ${command} is not installed`, () => undefined);
    return;
  }

  let child: ChildProcess;
  let port: number;
  let out = '';
  beforeAll(async () => {
    port = await freePort();
    const env = { ...process.env, PORT: String(port), EARSHOT_SIGNING_SECRET: SECRET };
    // The child has its own process group, because `go run` starts the receiver as a child, and both must be killed.
    child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
    await until(`${language} listens`, () => out.includes('listening'), 60_000);
  }, 90_000);
  afterAll(() => void (child?.pid && process.kill(-child.pid, 'SIGKILL')));

  const now = () => Math.floor(Date.now() / 1000);

  async function deliver(
    id: string,
    signing: { secrets?: string[]; legacy?: boolean; at?: number; sent?: string } = {},
  ) {
    const body = JSON.stringify({ id, type: 'keyword.paused', data: { reason: 'naïve' } });
    const { secrets = [SECRET], legacy = false, at = now(), sent = body } = signing;
    const headers = signatureHeaders({ secrets, legacy }, id, Buffer.from(body), at);
    const answer = await request(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: [...headers, 'content-type', 'application/json'],
      body: sent,
    });
    await answer.body.dump();
    return answer.statusCode;
  }

  const times = (id: string) => out.split('\n').filter((line) => line.includes(id)).length;

  it('still accepts events after a sender has closed its connection in the middle of a body', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"a', () =>
      socket.destroy(),
    );
    await once(socket, 'close');
    expect(await deliver('after-abort')).toBe(204);
  });

  it('handles an event once, even if it arrives twice, and accepts events during a rotation of the secret', async () => {
    expect(await deliver('event-1')).toBe(204);
    expect(await deliver('event-1', { secrets: ['whsec_bmV3', SECRET] })).toBe(204);
    expect(await deliver('event-2', { secrets: [SECRET, OLD_SECRET] })).toBe(204);
    await until('the events are handled', () => times('event-2') === 1);
    expect(times('event-1')).toBe(1);
  });

  it('refuses requests that are forged, changed, unsigned, too old, from the future, or without the new header', async () => {
    expect(await deliver('forged-1', { secrets: [OLD_SECRET] })).toBe(400);
    expect(await deliver('forged-2', { sent: '{"id":"forged-2","type":"x"}' })).toBe(400);
    expect(await deliver('forged-3', { at: now() - 301 })).toBe(400);
    expect(await deliver('forged-4', { at: now() + 302 })).toBe(400);
    expect(await deliver('forged-5', { legacy: true })).toBe(400);
    const bare = await request(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: '{"id":"forged-6","type":"x"}',
    });
    expect(bare.statusCode).toBe(400);
    expect(out).not.toContain('forged');
  });

  it('does not start with an empty secret, because everybody could sign requests', () => {
    const env = { ...process.env, PORT: String(port), EARSHOT_SIGNING_SECRET: '' };
    const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8', timeout: 60_000 });
    expect(status).toBe(1);
    expect(stderr).toContain('EARSHOT_SIGNING_SECRET is missing');
  }, 90_000);

  it('refuses a body of 2 MiB, and still handles later requests', async () => {
    const large = await deliver('large', { sent: 'x'.repeat(2 << 20) }).catch(() => 413);
    expect([400, 413]).toContain(large);
    expect(await deliver('event-3')).toBe(204);
  });
});
