import { request } from 'undici';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;
beforeAll(async () => {
  service = await startInterface();
}, 60_000);
afterAll(() => service?.stop());

async function get(path: string) {
  const answer = await request(`${service.url}${path}`);
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

describe('/docs', () => {
  it('shows every guide without a key, and links between guides lead to existing pages', async () => {
    const index = await get('/docs');
    expect(index.status).toBe(200);
    const seen = new Map<string, string>();
    const waiting = ['/docs'];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const { status, text } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      seen.set(path, text);
      for (const [, address = ''] of text.matchAll(/(?:href|src)="(\/docs[^"#]*)/g))
        if (!seen.has(address) && !waiting.includes(address)) waiting.push(address);
    }
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining([
        '/docs/api',
        '/docs/mcp',
        '/docs/sources/reddit',
        '/docs/overview',
        '/docs/reference',
      ]),
    );
    expect(seen.get('/docs/api')).toContain('id="create-a-keyword"');
    for (const [path, text] of seen)
      for (const [, page = '', id = ''] of text.matchAll(/href="(\/docs[^"#]*)#([^"]+)"/g))
        expect([path, page, id, seen.get(page)?.includes(`id="${decodeURIComponent(id)}"`)]).toEqual([
          path,
          page,
          id,
          true,
        ]);
  }, 60_000);

  it('is the same with a slash at the end', async () => {
    const [index, slashed] = [await get('/docs'), await get('/docs/')];
    expect([slashed.status, slashed.text]).toEqual([200, index.text]);
    expect((await get('/docs/nowhere/')).status).toBe(404);
  });

  it('runs only its own scripts and styles, and cannot be framed', async () => {
    for (const path of ['/docs', '/docs/reference']) {
      const { headers, text } = await get(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("script-src 'self'; style-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(policy).toContain("frame-ancestors 'none'");
      expect(text).not.toMatch(/<script(?! src="\/docs)/);
      expect(text).not.toMatch(/(?:src|href)="https?:[^"]*\.(?:js|css)"/);
    }
  });

  it('serves the viewer from the installation, and no other file', async () => {
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'start.js', 'docs.css'])
      expect([name, (await get(`/docs/viewer/${name}`)).status]).toEqual([name, 200]);
    for (const path of [
      ...[
        '/docs/viewer/package.json',
        '/docs/viewer/..%2Fpackage.json',
        '/docs/files/..%2F..%2Fpackage.json',
      ],
      ...[
        '/docs/files/%2e%2e/%2e%2e/package.json',
        '/docs/..%2f..%2fpackage.json',
        '/docs/nothing',
        '/docs/api.md/x',
      ],
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});
