import { request } from 'undici';
import { newApiKey } from '#secrets';
import { until } from '#testing';
import { joined, PASSWORD, signedIn } from './people.js';
import { ownSessionTasks } from './own-session-tasks.js';
import { passwordTasks } from './password-tasks.js';
import { EMAIL, SignInScene, statuses } from './sign-in-scene.js';

const scene = new SignInScene();
const { browser, from, signIn } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.clear());

/** Returns the number of passwords that the gateways of this process have hashed. */
async function hashed(): Promise<number> {
  const text = await (await request(`${scene.service.url}/metrics`)).body.text();
  return Number(/^earshot_password_hashes_total\S* (\d+)/m.exec(text)?.[1]);
}

describe('the limit of failed sign-ins', () => {
  it.each([EMAIL, 'nobody@example.org'])(
    'refuses %s at all gateways after 10 failures in 15 minutes [sessions.throttle]',
    async (email) => {
      // All attempts run at the same time, because an attempt counts when it begins.
      const answers = await Promise.all(
        Array.from({ length: 15 }, (_, n) => signIn(from(`192.0.2.${n}`), email, 'wrong words in a row')),
      );
      expect(statuses(answers)).toEqual([...Array<number>(10).fill(401), ...Array<number>(5).fill(429)]);
      const refused = await signIn(browser({}, scene.alsoAttacked), email, PASSWORD);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(890);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(900);
      await scene.service.database.query(`UPDATE auth_attempts SET at = at - interval '15 minutes'`);
      await until('the address can try again', async () => {
        const { status } = await signIn(browser({}, scene.alsoAttacked), email, PASSWORD);
        return status === (email === EMAIL ? 200 : 401);
      });
    },
  );

  it('refuses a network after 60 failures with different email addresses, while other networks can still sign in', async () => {
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, n) =>
        signIn(from(`2001:db8::${n + 1}`), `n${n}@example.org`, 'wrong words in a row'),
      ),
    );
    expect(statuses(answers)).toEqual([...Array<number>(60).fill(401), ...Array<number>(10).fill(429)]);
    expect((await signIn(from('2001:db8:0:1::1'), EMAIL, PASSWORD)).status).toBe(200);
  });

  it('lets a person sign in even if others of the network have sent too many invalid keys', async () => {
    const address = '192.0.2.200';
    const headers = { 'x-forwarded-for': address, 'x-api-key': newApiKey() };
    for (let status = 0; status !== 429;) {
      const { statusCode, body } = await request(`${scene.attacked}/v1/keywords`, { headers });
      await body.dump();
      status = statusCode;
    }
    const person = from(address);
    // The dashboard opens its sign-in page after a 401.
    expect((await person.get('/v1/auth/session')).status).toBe(401);
    expect((await signIn(person, EMAIL, PASSWORD)).status).toBe(200);
    expect((await person.get('/v1/keywords')).status).toBe(200);
  });

  it('does not count sign-ins that succeed', async () => {
    for (let n = 0; n < 12; n += 1) expect((await signIn(browser(), EMAIL, PASSWORD)).status).toBe(200);
  });

  it('also applies to the present password that a member enters to change the password', async () => {
    const lim = await joined(scene.owner, 'lim@example.org', 'viewer');
    const change = () =>
      lim.post('/v1/auth/password', { current_password: 'wrong', new_password: 'other words in a row' });
    for (let n = 0; n < 10; n += 1) expect((await change()).status).toBe(400);
    expect((await change()).status).toBe(429);
  });

  it('applies to wrong sign-up codes too', async () => {
    const guess = (n: number) =>
      browser().post('/v1/auth/sign-up', { email: 'eve@example.org', password: PASSWORD, code: `AAAA-${n}` });
    for (let n = 0; n < 10; n += 1) expect((await guess(n)).status).toBe(400);
    expect((await guess(10)).status).toBe(429);
  });
});

describe('a known and an unknown address', () => {
  it('get the same answer to a failed sign-in, after the same work [sessions.enumeration]', async () => {
    const seen = [];
    for (const email of [EMAIL, 'nobody@example.org']) {
      const before = await hashed();
      const { status, headers, body } = await signIn(browser(), email, 'wrong words in a row');
      seen.push({
        status,
        body: body as unknown,
        headers: Object.keys(headers).sort(),
        work: (await hashed()) - before,
      });
    }
    expect(seen[0]).toEqual({
      status: 401,
      body: { error: 'the email address or the password is wrong', code: 'UNAUTHORIZED' },
      headers: seen[1]?.headers,
      work: 1,
    });
    expect(seen[1]).toEqual(seen[0]);
  });

  it('get the same answer to a password reset, which names the command of the operator [sessions.enumeration]', async () => {
    const [known, unknown] = [
      await browser().post('/v1/auth/password/reset', { email: EMAIL }),
      await browser().post('/v1/auth/password/reset', { email: 'nobody@example.org' }),
    ];
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    expect([known.status, known.body.command]).toEqual([
      202,
      'npm run -s cli -- members reset-password --email you@example.org',
    ]);
  });
});

describe('a session that a stranger has put into the browser', () => {
  it('does not become the session of the person who signs in there [sessions.rotation]', async () => {
    await joined(scene.owner, 'mallory@example.org', 'viewer');
    const mallory = await signedIn(scene.service, 'mallory@example.org');
    const victim = browser();
    victim.cookie = mallory.cookie;
    await signIn(victim, EMAIL, PASSWORD);
    expect(victim.cookie).not.toBe(mallory.cookie);
    expect((await mallory.get('/v1/auth/session')).status).toBe(401);
    const invented = browser();
    invented.cookie = `earshot_session=${'A'.repeat(43)}`;
    await signIn(invented, EMAIL, PASSWORD);
    expect(invented.cookie).not.toContain('A'.repeat(43));
    expect(
      (await browser({ cookie: `earshot_session=${'A'.repeat(43)}` }).get('/v1/auth/session')).status,
    ).toBe(401);
  });
});

describe('a page of another site', () => {
  const strange: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'https://sub.example.org' },
  ];

  it.each(strange)(
    'cannot write with the session of its visitor, or sign the visitor in: %j [sessions.csrf]',
    async (headers) => {
      const ada = await signedIn(scene.service, EMAIL);
      expect((await ada.call('PATCH', '/v1/account', { name: 'x' }, headers)).status).toBe(403);
      expect((await ada.post('/v1/auth/sign-out', undefined, headers)).status).toBe(403);
      const sent = await browser().post('/v1/auth/sign-in', { email: EMAIL, password: PASSWORD }, headers);
      expect([sent.status, sent.headers['set-cookie']]).toEqual([403, undefined]);
      const own = { origin: scene.service.url, 'sec-fetch-site': 'same-origin' };
      expect((await ada.call('PATCH', '/v1/account', { name: null }, own)).status).toBe(200);
    },
  );

  it.each(strange)(
    'cannot read with the session of its visitor, because lookups cost credits: %j [sessions.csrf]',
    async (headers) => {
      const ada = await signedIn(scene.service, EMAIL);
      expect((await ada.get('/v1/account', headers)).status).toBe(401);
      expect((await ada.get('/v1/account', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
      expect((await ada.get('/v1/account', { 'sec-fetch-site': 'none' })).status).toBe(200);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'cannot sign its visitor in with a form of the type %s',
    async (type) => {
      const answer = await request(`${scene.service.url}/v1/auth/sign-in`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
      });
      await answer.body.dump();
      expect(answer.statusCode).toBe(415);
    },
  );

  it.each(['/', '/sign-in', '/channels/verify?token=x', '/channels/unsubscribe?token=x'])(
    'cannot show %s in a frame',
    async (path) => {
      const answer = await request(scene.service.url + path, { headers: { accept: 'text/html' } });
      await answer.body.dump();
      expect(answer.headers['content-type']).toMatch('text/html');
      expect(answer.headers['content-security-policy']).toMatch("frame-ancestors 'none'");
    },
  );

  it('gets no permission to read: there is no CORS header', async () => {
    const answer = await scene.owner.get('/v1/account', { origin: 'https://evil.example' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

passwordTasks(scene);
ownSessionTasks(scene);

describe('the cookie of a sign-in over TLS', () => {
  it('is Secure and bound to the host if PUBLIC_URL is https [sessions.cookie]', async () => {
    const tls = browser(
      {},
      await scene.service.anotherGateway({ PUBLIC_URL: 'https://earshot.example.org' }),
    );
    const answer = await signIn(tls, EMAIL, PASSWORD);
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-earshot_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await tls.get('/v1/auth/session')).status).toBe(200);
    // Another host of the domain could have set a cookie without the prefix.
    const planted = tls.cookie.replace('__Host-', '');
    expect((await browser({ cookie: planted }, tls.url).get('/v1/auth/session')).status).toBe(401);
    const page = { origin: 'https://earshot.example.org' };
    expect((await tls.call('PATCH', '/v1/account', { name: null }, page)).status).toBe(200);
  });

  it('is `Secure` if a trusted proxy sends X-Forwarded-Proto, but not if another client sends this header', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    expect((await signIn(browser(headers), EMAIL, PASSWORD)).headers['set-cookie']).not.toContain('Secure');
    expect((await signIn(browser(headers, scene.proxied), EMAIL, PASSWORD)).headers['set-cookie']).toMatch(
      /^__Host-earshot_session=.*; Secure/,
    );
  });
});

describe('a request with a key and a cookie', () => {
  it('has the rights of the key', async () => {
    const { apiKey } = (await scene.owner.post('/v1/keys', { name: 'reader', scope: 'read' })).body;
    const headers = { 'x-api-key': apiKey as string };
    expect((await scene.owner.call('PATCH', '/v1/account', { name: null }, headers)).status).toBe(403);
    expect((await scene.owner.get('/v1/keywords', { 'x-api-key': 'ek_wrong' })).status).toBe(401);
  });
});
