import { create } from '@bufbuild/protobuf';
import { request } from 'undici';
import { RequestPasswordResetSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { CommandClient } from '#transport';
import { Browser } from './browser.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { firstOwner, joined, PASSWORD, signedIn } from './people.js';

const EMAIL = 'ada@example.org';

let service: InterfaceUnderTest;
let owner: Browser;
let bus: Bus;
/** Gateways behind a trusted proxy, which says who the client is. Those that are attacked remember it for two seconds. */
let proxied: string;
let attacked: string;
let alsoAttacked: string;

beforeAll(async () => {
  service = await startInterface();
  owner = await firstOwner(service.url, EMAIL);
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  [proxied = '', attacked = '', alsoAttacked = ''] = await Promise.all(
    [1, 2, 3].map(() => service.anotherGateway({ TRUST_PROXY: '127.0.0.1' })),
  );
});
afterAll(async () => {
  await bus?.close();
  await service?.stop();
});
beforeEach(() => service.database.query('DELETE FROM auth_attempts'));

const browser = (headers?: Record<string, string>, url = service.url) => new Browser(url, headers);
/** A browser of another network. */
const from = (address: string) => browser({ 'x-forwarded-for': address }, attacked);
const signIn = (one: Browser, email: string, password: string) =>
  one.post('/v1/auth/sign-in', { email, password });
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();
const resetToken = async (email: string) =>
  (
    await new CommandClient(bus).request(
      COMMANDS.requestPasswordReset,
      create(RequestPasswordResetSchema, { email }),
    )
  ).token;

/** Passwords that the gateways of this process have hashed. */
async function hashed(): Promise<number> {
  const text = await (await request(`${service.url}/metrics`)).body.text();
  return Number(/^earshot_password_hashes_total\S* (\d+)/m.exec(text)?.[1]);
}

describe('guessing a password', () => {
  it.each([EMAIL, 'nobody@example.org'])(
    'of %s is refused after 10 failures, at all gateways, until the window is over [sessions.throttle]',
    async (email) => {
      // All at once: those that have begun count.
      const answers = await Promise.all(
        Array.from({ length: 15 }, (_, n) => signIn(from(`192.0.2.${n}`), email, 'wrong words in a row')),
      );
      expect(statuses(answers)).toEqual([...Array<number>(10).fill(401), ...Array<number>(5).fill(429)]);
      const refused = await signIn(browser({}, alsoAttacked), email, PASSWORD);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(890);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(900);
      await service.database.query(`UPDATE auth_attempts SET at = at - interval '15 minutes'`);
      await until('the address may try again', async () => {
        const { status } = await signIn(browser({}, alsoAttacked), email, PASSWORD);
        return status === (email === EMAIL ? 200 : 401);
      });
    },
  );

  it('of many addresses is refused after 60 failures of a network, and others go on', async () => {
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, n) =>
        signIn(from(`2001:db8::${n + 1}`), `n${n}@example.org`, 'wrong words in a row'),
      ),
    );
    expect(statuses(answers)).toEqual([...Array<number>(60).fill(401), ...Array<number>(10).fill(429)]);
    expect((await signIn(from('2001:db8:0:1::1'), EMAIL, PASSWORD)).status).toBe(200);
  });

  it('does not count sign-ins that succeed', async () => {
    for (let n = 0; n < 12; n += 1) expect((await signIn(browser(), EMAIL, PASSWORD)).status).toBe(200);
  });

  it('is limited in an open session too, where the present password is asked for', async () => {
    const lim = await joined(owner, 'lim@example.org', 'viewer');
    const change = () =>
      lim.post('/v1/auth/password', { current_password: 'wrong', new_password: 'other words in a row' });
    for (let n = 0; n < 10; n += 1) expect((await change()).status).toBe(400);
    expect((await change()).status).toBe(429);
  });

  it('of sign-up codes is limited', async () => {
    const guess = (n: number) =>
      browser().post('/v1/auth/sign-up', { email: 'eve@example.org', password: PASSWORD, code: `AAAA-${n}` });
    for (let n = 0; n < 10; n += 1) expect((await guess(n)).status).toBe(400);
    expect((await guess(10)).status).toBe(429);
  });
});

describe('a known and an unknown address', () => {
  it('get the same answer to a sign-in, after the same work [sessions.enumeration]', async () => {
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
      body: { error: 'the e-mail address or the password is wrong', code: 'UNAUTHORIZED' },
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

describe('a planted session', () => {
  it('does not become that of the person who signs in [sessions.rotation]', async () => {
    await joined(owner, 'mallory@example.org', 'viewer');
    const mallory = await signedIn(service, 'mallory@example.org');
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
    'cannot write with the session of its visitor, nor sign him in: %j [sessions.csrf]',
    async (headers) => {
      const ada = await signedIn(service, EMAIL);
      expect((await ada.call('PATCH', '/v1/account', { name: 'x' }, headers)).status).toBe(403);
      expect((await ada.post('/v1/auth/sign-out', undefined, headers)).status).toBe(403);
      const sent = await browser().post('/v1/auth/sign-in', { email: EMAIL, password: PASSWORD }, headers);
      expect([sent.status, sent.headers['set-cookie']]).toEqual([403, undefined]);
      const own = { origin: service.url, 'sec-fetch-site': 'same-origin' };
      expect((await ada.call('PATCH', '/v1/account', { name: null }, own)).status).toBe(200);
    },
  );

  it.each(strange)(
    'cannot read with the session of its visitor, since lookups cost credits: %j [sessions.csrf]',
    async (headers) => {
      const ada = await signedIn(service, EMAIL);
      expect((await ada.get('/v1/account', headers)).status).toBe(401);
      expect((await ada.get('/v1/account', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
      expect((await ada.get('/v1/account', { 'sec-fetch-site': 'none' })).status).toBe(200);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'cannot sign in with a form: %s',
    async (type) => {
      const answer = await request(`${service.url}/v1/auth/sign-in`, {
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
      const answer = await request(service.url + path, { headers: { accept: 'text/html' } });
      await answer.body.dump();
      expect(answer.headers['content-type']).toMatch('text/html');
      expect(answer.headers['content-security-policy']).toMatch("frame-ancestors 'none'");
    },
  );

  it('gets no permission to read: there is no CORS header', async () => {
    const answer = await owner.get('/v1/account', { origin: 'https://evil.example' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a new password', () => {
  const signUp = (password: string) =>
    browser().post('/v1/auth/sign-up', { email: 'weak.password@example.org', password, code: 'AAAA' });

  it.each([
    ['short', 'at least 10'],
    ['x'.repeat(201), 'at most 200'],
    ['\u{1F600}'.repeat(9), 'at least 10'],
    ['qwertyuiop', 'tried first'],
    ['QWERTYuiop', 'tried first'],
    ['1234567890', 'tried first'],
    ['Weak.Password@example.org', 'tried first'],
    ['four words in a\0row', 'U+0000'],
    ['x'.repeat(100_000), 'at most 200'],
  ])('%j is refused, and the reason is given [sessions.passwords]', async (password, reason) => {
    const { status, body } = await signUp(password);
    expect([status, body.details]).toEqual([
      400,
      [{ path: 'password', message: expect.stringContaining(reason) as string }],
    ]);
  });

  it('of 1 MiB is refused before it is read', async () => {
    expect((await signUp('x'.repeat(1024 * 1024))).status).toBe(413);
  });

  it('is stored with argon2id, and works however a keyboard writes its characters', async () => {
    // e with an accent, as one character and as two; a ligature.
    const [composed, decomposed] = ['caf\u00e9 \ufb01ne words', 'cafe\u0301 fine words'];
    const { code } = (await owner.post('/v1/invitations', { email: 'uni@example.org', role: 'viewer' })).body;
    const answer = await browser().post('/v1/auth/sign-up', {
      email: 'uni@example.org',
      password: composed,
      code,
    });
    expect(answer.status).toBe(201);
    expect((await signIn(browser(), 'uni@example.org', decomposed)).status).toBe(200);
    const rows: { password_hash: string }[] = await service.database.query(
      'SELECT password_hash FROM members',
    );
    for (const { password_hash: hash } of rows) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});

describe('a changed password', () => {
  it('ends every other session, and keeps the present one [sessions.password-change]', async () => {
    await joined(owner, 'pia@example.org', 'editor');
    const [here, there] = [
      await signedIn(service, 'pia@example.org'),
      await signedIn(service, 'pia@example.org'),
    ];
    const next = 'other words in a row';
    const change = (current: string) =>
      here.post('/v1/auth/password', { current_password: current, new_password: next });
    expect((await change('wrong words')).body.details[0].path).toBe('current_password');
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await there.get('/v1/auth/session')).status).toBe(401);
    expect((await here.get('/v1/auth/session')).status).toBe(200);
    expect((await signIn(browser(), 'pia@example.org', PASSWORD)).status).toBe(401);
    expect((await signIn(browser(), 'pia@example.org', next)).status).toBe(200);
  });

  it('by a reset ends all sessions, and its token works once, however many use it at once [sessions.reset]', async () => {
    const rob = await joined(owner, 'rob@example.org', 'editor');
    const [token, other] = [await resetToken('ROB@example.org'), await resetToken('rob@example.org')];
    const confirm = (given: string, password: string) =>
      browser().post('/v1/auth/password/reset/confirm', { token: given, new_password: password });
    for (const forged of [`${token}A`, token.slice(0, -2), 'x', Buffer.from('[1]').toString('base64url')])
      expect((await confirm(forged, 'other words in a row')).body.details[0].path).toBe('token');
    const answers = await Promise.all(
      ['first words in a row', 'second words in a row', 'third words in a row'].map((password) =>
        confirm(token, password),
      ),
    );
    expect(statuses(answers)).toEqual([204, 400, 400]);
    expect((await rob.get('/v1/auth/session')).status).toBe(401);
    // A second link of the same time is for the old password.
    expect((await confirm(other, 'fourth words in a row')).status).toBe(400);
    expect(await resetToken('nobody@example.org')).toBe('');
  });
});

describe('the sessions of a member', () => {
  it('are listed and ended by him alone [sessions.list]', async () => {
    await joined(owner, 'lis@example.org', 'viewer');
    const [lis, phone] = [
      await signedIn(service, 'lis@example.org'),
      browser({ 'user-agent': 'Phone\u00e4 1' }),
    ];
    await signIn(phone, 'lis@example.org', PASSWORD);
    const { data } = (await phone.get('/v1/auth/sessions')).body;
    expect(data.length).toBe(3);
    const [present] = data.filter(({ current }: { current: boolean }) => current);
    expect(present).toMatchObject({
      userAgent: expect.stringMatching(/^Phone/) as string,
      networkAddress: '127.0.0.1',
    });
    expect((await owner.call('DELETE', `/v1/auth/sessions/${present.id}`)).status).toBe(404);
    expect((await lis.call('DELETE', `/v1/auth/sessions/${newId()}`)).status).toBe(404);
    expect((await lis.call('DELETE', `/v1/auth/sessions/${present.id}`)).status).toBe(204);
    expect((await phone.get('/v1/auth/session')).status).toBe(401);
    expect(JSON.stringify(await service.database.query('SELECT * FROM sessions'))).not.toContain(
      lis.cookie.split('=')[1],
    );
  });

  it('are deleted after their end', async () => {
    const ada = await signedIn(service, EMAIL);
    const count = async () => {
      const rows: unknown[] = await service.database.query(
        'SELECT 1 FROM sessions WHERE expires_at <= now()',
      );
      return rows.length;
    };
    await service.database.query(
      `UPDATE sessions SET expires_at = now() WHERE created_at = (SELECT max(created_at) FROM sessions)`,
    );
    expect((await ada.get('/v1/auth/session')).status).toBe(401);
    expect(await count()).toBe(1);
    // A gateway deletes them at its start, and then every ten minutes.
    await service.anotherGateway();
    await until('the session is deleted', async () => (await count()) === 0);
  });

  it('end 30 days after the last request, and 90 days after the sign-in', async () => {
    const ada = await signedIn(service, EMAIL);
    const expiry = async () => {
      const { data } = (await ada.get('/v1/auth/sessions')).body;
      const { expiresAt } = data.find(({ current }: { current: boolean }) => current);
      return Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000);
    };
    const set = (change: string) =>
      service.database.query(
        `UPDATE sessions SET ${change} WHERE created_at = (SELECT max(created_at) FROM sessions)`,
      );
    await set(`last_seen_at = now() - interval '2 minutes', expires_at = now() + interval '1 day'`);
    expect([await expiry(), await expiry()]).toContain(30);
    await set(`last_seen_at = now() - interval '2 minutes', created_at = now() - interval '80 days'`);
    await ada.get('/v1/auth/session');
    expect(await expiry()).toBe(10);
    const { cookie } = ada;
    await service.database.query(`UPDATE sessions SET expires_at = now()`);
    expect((await browser({ cookie }).get('/v1/auth/session')).status).toBe(401);
    owner = await signedIn(service, EMAIL);
  });

  it('share the request quota of the account with its keys [auth.shared-quota]', async () => {
    const { apiKey } = (await owner.post('/v1/keys', { name: 'k' })).body;
    const remaining = (answer: { headers: Record<string, unknown> }) =>
      Number(answer.headers['ratelimit-remaining']);
    await owner.post('/v1/account/plan', { plan: 'pro' });
    const one = remaining(await owner.get('/v1/account'));
    await owner.withKey(apiKey as string).get('/v1/account');
    const three = remaining(await owner.get('/v1/account'));
    // A new minute can begin in between.
    expect(one - three === 2 || three > one).toBe(true);
    await owner.post('/v1/account/plan', { plan: 'unlimited' });
  });
});

describe('the cookie behind TLS', () => {
  it('is Secure and bound to the host, where PUBLIC_URL is https [sessions.cookie]', async () => {
    const tls = browser({}, await service.anotherGateway({ PUBLIC_URL: 'https://earshot.example.org' }));
    const answer = await signIn(tls, EMAIL, PASSWORD);
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-earshot_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await tls.get('/v1/auth/session')).status).toBe(200);
    // Without the prefix another host of the domain could have set it.
    const planted = tls.cookie.replace('__Host-', '');
    expect((await browser({ cookie: planted }, tls.url).get('/v1/auth/session')).status).toBe(401);
    const page = { origin: 'https://earshot.example.org' };
    expect((await tls.call('PATCH', '/v1/account', { name: null }, page)).status).toBe(200);
  });

  it('follows X-Forwarded-Proto of a trusted proxy, and of nobody else', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    expect((await signIn(browser(headers), EMAIL, PASSWORD)).headers['set-cookie']).not.toContain('Secure');
    expect((await signIn(browser(headers, proxied), EMAIL, PASSWORD)).headers['set-cookie']).toMatch(
      /^__Host-earshot_session=.*; Secure/,
    );
  });
});

describe('a request with a key and a cookie', () => {
  it('has the rights of the key', async () => {
    const { apiKey } = (await owner.post('/v1/keys', { name: 'reader', scope: 'read' })).body;
    const headers = { 'x-api-key': apiKey as string };
    expect((await owner.call('PATCH', '/v1/account', { name: null }, headers)).status).toBe(403);
    expect((await owner.get('/v1/keywords', { 'x-api-key': 'ek_wrong' })).status).toBe(401);
  });
});
