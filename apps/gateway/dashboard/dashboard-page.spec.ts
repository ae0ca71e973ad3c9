import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { fastify, type FastifyInstance } from 'fastify';
import { DashboardFiles } from './dashboard-files.js';
import { serveDashboard } from './dashboard-page.js';

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const INDEX =
  '<html><meta property="csp-nonce" nonce="NONCE"><script type="module" nonce="NONCE" src="/assets/a-1.js">';

describe('the page of the dashboard', () => {
  let folder: string;
  let server: FastifyInstance;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'earshot-dashboard-'));
    mkdirSync(join(folder, 'assets'));
    mkdirSync(join(folder, '.vite'));
    writeFileSync(join(folder, 'index.html'), INDEX);
    writeFileSync(join(folder, '.vite/manifest.json'), '{}');
    writeFileSync(join(folder, 'assets/a-1.js'), 'plain');
    writeFileSync(join(folder, 'assets/a-1.js.br'), Buffer.from('CwKAcGxhaW4D', 'base64'));
    for (const ending of ['', '.br', '.gz']) writeFileSync(join(folder, `assets/c-1.css${ending}`), ending);
    server = serverOf(new DashboardFiles(folder));
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  function serverOf(files: DashboardFiles): FastifyInstance {
    const server = fastify();
    server.get('/v1/keywords', () => ({ data: [] }));
    serveDashboard(server, files);
    return server;
  }

  it.each(['/', '/feed', '/keywords/0190f3a0-0000-7000-8000-000000000000/edit?tab=rules', '/channels'])(
    'is returned to a browser at %s',
    async (url) => {
      const answer = await server.inject({ url, headers: HTML });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(answer.body).toContain('/assets/a-1.js');
    },
  );

  it('has a new nonce in each response; the policy and the page contain the same nonce', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { headers, body } = await server.inject({ url: '/', headers: HTML });
        const nonce = /style-src 'self' 'nonce-([\w+/=]+)'/.exec(
          String(headers['content-security-policy']),
        )?.[1];
        expect(body.split(`nonce="${nonce}"`)).toHaveLength(3);
        expect(body).not.toContain('NONCE');
        return nonce;
      }),
    );
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it('forbids inline scripts, connections to other hosts, and being shown in a frame', async () => {
    const { headers } = await server.inject({ url: '/feed', headers: HTML });
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "object-src 'none'",
      ]),
    );
    expect(policy.join()).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
  });

  it('is returned for HEAD', async () => {
    expect((await server.inject({ method: 'HEAD', url: '/feed', headers: HTML })).statusCode).toBe(200);
  });

  it.each([
    ['a program that does not ask for HTML', { url: '/keywords', headers: { accept: '*/*' } }],
    ['an unknown address of the API', { url: '/v1/keyword', headers: HTML }],
    ['an unknown address below the path of links in mails', { url: '/channels/verify/x', headers: HTML }],
    ['a file that does not exist', { url: '/robots.txt', headers: HTML }],
    ['a form', { url: '/feed', method: 'POST' as const, headers: HTML }],
  ])('is not returned for %s: the API answers 404', async (_, request) => {
    expect((await server.inject(request)).statusCode).toBe(404);
  });

  it('explains how to build the dashboard if the dashboard is not built', async () => {
    const bare = serverOf(new DashboardFiles(join(folder, 'nowhere')));
    const answer = await bare.inject({ url: '/', headers: HTML });
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toContain('npm run build');
    await bare.close();
  });

  it('has compressed files for clients that accept them', () => {
    const files = new DashboardFiles(folder);
    const packed = files.file('assets/a-1.js', 'gzip, deflate, br');
    expect(packed?.encoding).toBe('br');
    expect(brotliDecompressSync(packed?.bytes ?? '').toString()).toBe('plain');
    expect(files.file('assets/a-1.js', 'gzip')).toEqual({
      bytes: Buffer.from('plain'),
      type: 'text/javascript; charset=utf-8',
      encoding: undefined,
    });
  });

  it.each<[string, string | undefined]>([
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['*, BR; q=0.0', 'gzip'],
    ['br;q=0, gzip;q=0, *', undefined],
    ['br;q=0.5, gzip;q=1.0', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0.5, identity', undefined],
    ['deflate', undefined],
    ['brotli', undefined],
    ['*', 'br'],
    ['', undefined],
  ])(
    'answers the accept-encoding %j with a file in the encoding %s (undefined: not compressed)',
    (accepted, encoding) => {
      const files = new DashboardFiles(folder);
      expect(files.file('assets/c-1.css', accepted)?.encoding).toBe(encoding);
    },
  );

  it('consists of the files of one build, even after another build has replaced the files', () => {
    const replaced = mkdtempSync(join(tmpdir(), 'earshot-dashboard-'));
    try {
      cpSync(folder, replaced, { recursive: true });
      const running = new DashboardFiles(replaced);
      rmSync(join(replaced, 'assets'), { recursive: true });
      mkdirSync(join(replaced, 'assets'));
      writeFileSync(join(replaced, 'assets/a-2.js'), 'new');
      writeFileSync(join(replaced, 'index.html'), INDEX.replace('a-1', 'a-2'));
      const script = /src="\/([^"]+)"/.exec(running.page('n') ?? '')?.[1] ?? '';
      expect(running.file(script)?.bytes.toString()).toBe('plain');
      expect(running.file('assets/a-2.js')).toBeUndefined();
    } finally {
      rmSync(replaced, { recursive: true });
    }
  });

  it.each(['assets/../index.html', '../package.json', '.vite/manifest.json', 'assets/b-1.js', 'assets'])(
    'does not return the file %s',
    (name) => {
      expect(new DashboardFiles(folder).file(name)).toBeUndefined();
    },
  );
});
