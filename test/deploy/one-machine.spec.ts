import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseEnv, read, readYaml, ROOT, unknownSettings } from './deployment-files.js';

describe('deploy/healthcheck.mjs', () => {
  let readiness = 200;
  const server = createServer((request, response) => {
    const isAllowed = request.headers.authorization === 'Bearer 0123456789abcdef';
    if (request.url === '/readyz') response.statusCode = isAllowed ? readiness : 401;
    response.end('{"postgres":false}');
  });

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => server.close());

  async function check(
    path: string,
    port: number,
    token = '',
    host?: string,
  ): Promise<{ code: unknown; output: string }> {
    const child = spawn(process.execPath, [join(ROOT, 'deploy/healthcheck.mjs'), path], {
      env: { PORT: String(port), OPERATIONS_TOKEN: token, ...(host && { HOST: host }) },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = await once(child, 'close');
    return { code, output };
  }
  const port = () => (server.address() as AddressInfo).port;

  it.each([
    [undefined, '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '127.0.0.1'],
    ['127.0.0.2', '127.0.0.2'],
    ['localhost', 'localhost'],
  ])('uses HOST=%s to ask the service at %s', async (host, address) => {
    const other = createServer((request, response) => response.end(request.headers.host));
    await once(other.listen(0, address), 'listening');
    const { port: otherPort } = other.address() as AddressInfo;
    expect(await check('/healthz', otherPort, '', host)).toEqual({
      code: 0,
      output: `/healthz: 200 ${address}:${otherPort}\n`,
    });
    other.close();
  });

  it('exits with 0 if the service answers 200, and sends the token of the environment', async () => {
    expect(await check('/healthz', port())).toMatchObject({ code: 0 });
    expect(await check('/readyz', port(), '0123456789abcdef')).toMatchObject({ code: 0 });
  });

  it('exits with 1 and prints the answer if the service is not ready or refuses the token', async () => {
    readiness = 503;
    expect(await check('/readyz', port(), '0123456789abcdef')).toEqual({
      code: 1,
      output: '/readyz: 503 {"postgres":false}\n',
    });
    expect(await check('/readyz', port())).toMatchObject({ code: 1, output: expect.stringContaining('401') });
  });

  it('exits with 1 and prints the reason if nothing listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const free = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    expect(await check('/healthz', free)).toMatchObject({
      code: 1,
      output: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('deploy/systemd/earshot.service', () => {
  const unit = read('deploy/systemd/earshot.service');
  const values = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('starts a program that the build creates, and restarts it after exit code 1', () => {
    expect(values('ExecStart')).toEqual(['/usr/bin/node /opt/earshot/dist/apps/earshot/main.js']);
    expect(existsSync(join(ROOT, 'apps/earshot/main.ts'))).toBe(true);
    expect(values('Restart')).toEqual(['on-failure']);
  });

  it('sends SIGTERM only to the main process, which then has more than 10 s to stop its stores', () => {
    expect(values('KillMode')).toEqual(['mixed']);
    expect(Number(values('TimeoutStopSec')[0])).toBeGreaterThan(10);
  });

  it('sets only existing settings', () => {
    const set = values('Environment').map((line) => line?.split('=')[0] ?? '');
    expect(unknownSettings(set.filter((name) => name !== 'NODE_ENV'))).toEqual([]);
    expect(unknownSettings(Object.keys(parseEnv(read('deploy/systemd/earshot.env.example'))))).toEqual([]);
  });
});

describe('nest-cli.json', () => {
  const nest = readYaml<{ projects: Record<string, { sourceRoot: string; entryFile: string }> }>(
    'nest-cli.json',
  );

  it('has a project with an existing entry file for each application', () => {
    for (const { sourceRoot, entryFile } of Object.values(nest.projects))
      expect(existsSync(join(ROOT, sourceRoot, `${entryFile}.ts`))).toBe(true);
    expect(Object.keys(nest.projects)).toEqual(
      expect.arrayContaining([
        'earshot',
        'gateway',
        'keywords',
        'polling',
        'analysis',
        'billing',
        'delivery',
      ]),
    );
  });

  it('uses the settings of the build, without path aliases that Nest would write into the output, and without the type check', () => {
    const nestBuild = readYaml<object>('tsconfig.nest.json');
    expect(nestBuild).toEqual({
      extends: './tsconfig.build.json',
      compilerOptions: { paths: {}, noCheck: true },
    });
  });
});
