import { once } from 'node:events';
import http from 'node:http';
import { request } from 'undici';
import { newId } from '#kernel';
import { until } from '#testing';
import { Browser } from './browser.js';
import { description } from './described.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { firstOwner, joined, memberIdOf, PASSWORD } from './people.js';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase() as Method, path })),
);

const OPEN = [
  '/v1/openapi.json',
  '/v1/auth/options',
  '/v1/auth/sign-up',
  '/v1/auth/sign-in',
  '/v1/auth/password/reset',
  '/v1/auth/password/reset/confirm',
];
/** Routes that need a session. No API key can use them. */
const NEED_SESSION =
  /^\/v1\/(auth|keys|members|invitations|signing-secret|audit-log)(\/|$)|^\/v1\/(account\/plan|credits\/packs)$/;
const OWNERS_READ = /^\/v1\/(invitations|signing-secret|audit-log)/;
const OWNERS_WRITE = /^\/v1\/(account|credits|members|invitations|signing-secret|audit-log)/;

type Operation = (typeof operations)[number];
const changes = ({ method, path }: Operation) => method !== 'GET' && !/\/(estimate|lookup)$/.test(path);

/** For each role: returns true if an operation is refused to a member with this role. */
const REFUSED: Record<string, (operation: Operation) => boolean> = {
  viewer: (operation) =>
    changes(operation)
      ? !operation.path.startsWith('/v1/auth/')
      : OWNERS_READ.test(operation.path) || operation.path.startsWith('/v1/keys'),
  editor: (operation) => (changes(operation) ? OWNERS_WRITE : OWNERS_READ).test(operation.path),
  owner: () => false,
};

let service: InterfaceUnderTest;
const browsers: Record<string, Browser> = {};
const keys: Record<string, string> = {};

beforeAll(async () => {
  service = await startInterface({ TRUST_PROXY: '127.0.0.1' });
  const owner = await firstOwner(service.url);
  browsers['owner'] = owner;
  browsers['editor'] = await joined(owner, 'ed@example.org', 'editor');
  browsers['viewer'] = await joined(owner, 'vi@example.org', 'viewer');
  const keyOf = async (browser: Browser, scope: string) =>
    (await browser.post('/v1/keys', { name: scope, scope })).body.apiKey as string;
  keys['owner'] = await keyOf(owner, 'write');
  keys['editor'] = await keyOf(browsers['editor'], 'write');
  keys['viewer'] = await keyOf(owner, 'read');
});
afterAll(() => service?.stop());

/** Sends a request with the body `{}` (none for a GET) and with unknown ids, and returns the status. */
async function statusOf({ method, path }: Operation, headers: Record<string, string>): Promise<number> {
  const filled = path.replace('{source}', 'hackernews').replaceAll(/\{\w+\}/g, newId());
  const answer = await request(service.url + filled, {
    method,
    headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  // The body is not read to its end, because a stream of events never ends.
  answer.body.on('error', () => undefined).destroy();
  return answer.statusCode;
}

const guarded = operations.filter(({ path }) => !OPEN.includes(path));

describe('every route of the description', () => {
  it('is refused without a key and without a session, unless it is a public route [errors.key]', async () => {
    // Each request has its own sender address, because an address is refused after sixty attempts.
    const answers = await Promise.all(
      guarded.map(async (operation, n) => {
        const status = await statusOf(operation, { 'x-forwarded-for': `192.0.2.${n}` });
        return `${operation.method} ${operation.path} ${status}`;
      }),
    );
    expect(answers.filter((answer) => !answer.endsWith(' 401'))).toEqual([]);
    for (const operation of operations.filter(({ path }) => OPEN.includes(path)))
      expect([200, 400]).toContain(await statusOf(operation, {}));
  });

  it.each(['viewer', 'editor', 'owner'])(
    'is allowed to a member with the role %s only if the table of roles allows it [sessions.roles]',
    async (role) => {
      const wrong: string[] = [];
      for (const operation of guarded) {
        if (operation.path === '/v1/auth/sign-out') continue;
        const { cookie, csrfToken } = browsers[role] as Browser;
        const status = await statusOf(operation, { cookie, 'x-csrf-token': csrfToken });
        const isRefused = status === 401 || status === 403;
        if (isRefused !== REFUSED[role]?.(operation))
          wrong.push(`${operation.method} ${operation.path} ${status}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  it.each(['viewer', 'editor', 'owner'])(
    'is refused to an API key with the role %s if the route is refused to this role or needs a session [requests.forbidden]',
    async (role) => {
      const wrong: string[] = [];
      for (const operation of guarded) {
        const status = await statusOf(operation, { 'x-api-key': keys[role] ?? '' });
        const isRefused = status === 401 || status === 403;
        const wanted = NEED_SESSION.test(operation.path) || REFUSED[role]?.(operation);
        if (isRefused !== wanted) wrong.push(`${operation.method} ${operation.path} ${status}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  it('refuses each write of a session without x-csrf-token, even if the member is an owner [sessions.csrf]', async () => {
    const { cookie } = browsers['owner'] as Browser;
    const wrong: string[] = [];
    for (const operation of guarded.filter(({ method }) => method !== 'GET')) {
      const status = await statusOf(operation, { cookie });
      if (status !== 403) wrong.push(`${operation.method} ${operation.path} ${status}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('a new role', () => {
  it('applies immediately to the sessions of the member, and to keys that a gateway has not read yet', async () => {
    const owner = browsers['owner'] as Browser;
    const eve = await joined(owner, 'eve@example.org', 'editor');
    const { apiKey } = (await eve.post('/v1/keys', { name: 'k' })).body;
    const id = (await eve.get('/v1/auth/session')).body.member.id as string;
    expect((await eve.post('/v1/keywords/estimate', {})).status).not.toBe(403);
    expect((await owner.call('PATCH', `/v1/members/${id}`, { role: 'viewer' })).body.role).toBe('viewer');
    expect((await eve.post('/v1/keywords', {})).status).toBe(403);
    const url = await service.anotherGateway();
    const answer = await request(`${url}/v1/keywords`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey as string },
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(403);
    expect(
      (
        await new Browser(service.url).post('/v1/auth/sign-in', {
          email: 'eve@example.org',
          password: PASSWORD,
        })
      ).body.member.role,
    ).toBe('viewer');
  });
});

describe('a removal', () => {
  it('stops a request of the member whose body ends more than a second after the removal', async () => {
    const owner = browsers['owner'] as Browser;
    const mallory = await joined(owner, 'mallory@example.org', 'owner');
    const id = await memberIdOf(mallory);
    const running = http.request(`${service.url}/v1/invitations`, {
      method: 'POST',
      headers: {
        cookie: mallory.cookie,
        'x-csrf-token': mallory.csrfToken,
        'content-type': 'application/json',
        expect: '100-continue',
      },
    });
    running.flushHeaders();
    await once(running, 'continue');
    const began = Date.now();
    running.write('{"email":"mallory2@example.org","role":');
    await owner.call('DELETE', `/v1/members/${id}`);
    await until('a second has passed', () => Promise.resolve(Date.now() - began > 1100));
    running.end('"owner"}');
    const [answer] = (await once(running, 'response')) as [http.IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(401);
    const open = (await owner.get('/v1/invitations')).body.data as { email: string }[];
    expect(open.map(({ email }) => email)).not.toContain('mallory2@example.org');
  });

  it('revokes the invitations of the member, so that the member cannot return with another address', async () => {
    const owner = browsers['owner'] as Browser;
    const mallory = await joined(owner, 'mallory3@example.org', 'owner');
    const { body } = await mallory.post('/v1/invitations', { email: 'mallory4@example.org', role: 'owner' });
    await owner.call('DELETE', `/v1/members/${await memberIdOf(mallory)}`);
    const again = { email: 'mallory4@example.org', password: PASSWORD, code: body.code };
    expect(await new Browser(service.url).post('/v1/auth/sign-up', again)).toMatchObject({
      status: 400,
      body: { error: 'code: is not valid for this address, or was used, or has expired' },
    });
  });
});
