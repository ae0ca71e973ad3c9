import { newId } from '#kernel';
import { until } from '#testing';
import { Browser } from './browser.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { firstOwner, joined, memberIdOf, PASSWORD, signedIn } from './people.js';

let service: InterfaceUnderTest;
let owner: Browser;

beforeAll(async () => {
  service = await startInterface();
  owner = await firstOwner(service.url);
});
afterAll(() => service?.stop());

const remove = (browser: Browser, path: string) => browser.call('DELETE', path);

describe('an invitation', () => {
  it('shows its code once, and makes the invited address a member with its role [members.invitations]', async () => {
    const made = await owner.post('/v1/invitations', { email: 'Bob@example.org', role: 'editor' });
    expect(made.status).toBe(201);
    const { id, code, url } = made.body;
    expect(code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
    expect(url).toContain(`/sign-up#email=Bob%40example.org&code=${code}`);
    const listed = (await owner.get('/v1/invitations')).body.data;
    expect(listed).toEqual([expect.objectContaining({ id, email: 'Bob@example.org', role: 'editor' })]);
    const bob = new Browser(service.url);
    const wrongAddress = { email: 'eve@example.org', password: PASSWORD, code };
    expect((await bob.post('/v1/auth/sign-up', wrongAddress)).body.details[0].path).toBe('code');
    const right = { email: 'bob@example.org', password: PASSWORD, code: (code as string).toLowerCase() };
    const answer = await bob.post('/v1/auth/sign-up', right);
    expect([answer.status, answer.body.member.role]).toEqual([201, 'editor']);
    expect((await owner.get('/v1/invitations')).body.data).toEqual([]);
    expect((await owner.get('/v1/members')).body.data.map(({ email }: { email: string }) => email)).toEqual([
      'Bob@example.org',
      'ada@example.org',
    ]);
    // The address is taken now, and the code is used.
    expect((await new Browser(service.url).post('/v1/auth/sign-up', right)).status).toBe(409);
  });

  it('is accepted only once, even if several people accept it at the same time', async () => {
    const { code } = (await owner.post('/v1/invitations', { email: 'cy@example.org', role: 'viewer' })).body;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        new Browser(service.url).post('/v1/auth/sign-up', {
          email: 'cy@example.org',
          password: PASSWORD,
          code,
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('ends when it is revoked, and when the address is invited again', async () => {
    const invite = async () =>
      (await owner.post('/v1/invitations', { email: 'dan@example.org', role: 'viewer' })).body;
    const [first, second] = [await invite(), await invite()];
    const accept = (code: string) =>
      new Browser(service.url).post('/v1/auth/sign-up', {
        email: 'dan@example.org',
        password: PASSWORD,
        code,
      });
    expect((await accept(first.code as string)).status).toBe(400);
    expect((await remove(owner, `/v1/invitations/${second.id}`)).status).toBe(204);
    expect((await accept(second.code as string)).status).toBe(400);
    expect((await remove(owner, `/v1/invitations/${newId()}`)).status).toBe(404);
  });

  it.each([
    [{ email: 'x@example.org', role: 'admin' }, 'role'],
    [{ email: 'x@example.org\r\nbcc: y@example.org', role: 'viewer' }, 'email'],
    [{ email: 'x', role: 'viewer' }, 'email'],
    [{ role: 'viewer' }, 'email'],
  ])('is refused with the body %j, and the field is named', async (body, path) => {
    const answer = await owner.post('/v1/invitations', body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });
});

describe('a member', () => {
  it('is signed out immediately after a removal, and the keys of this member are revoked [members.removed]', async () => {
    const eve = await joined(owner, 'eve@example.org', 'owner');
    const { apiKey } = (await eve.post('/v1/keys', { name: 'k' })).body;
    const api = eve.withKey(apiKey as string);
    expect((await api.get('/v1/keywords')).status).toBe(200);
    const id = await memberIdOf(eve);
    expect((await remove(owner, `/v1/members/${id}`)).status).toBe(204);
    expect((await eve.get('/v1/keywords')).status).toBe(401);
    await until('the key is refused', async () => (await api.get('/v1/keywords')).status === 401);
    expect(
      (
        await new Browser(service.url).post('/v1/auth/sign-in', {
          email: 'eve@example.org',
          password: PASSWORD,
        })
      ).status,
    ).toBe(401);
    expect((await remove(owner, `/v1/members/${id}`)).status).toBe(404);
    // The address is free again.
    expect((await (await joined(owner, 'eve@example.org', 'viewer')).get('/v1/keywords')).status).toBe(200);
  });

  it('cannot be removed or demoted as the last owner, even by two requests at the same time [members.last-owner]', async () => {
    const other = await joined(owner, 'o2@example.org', 'owner');
    const [a, b] = [await memberIdOf(owner), await memberIdOf(other)];
    const answers = await Promise.all([
      owner.call('PATCH', `/v1/members/${b}`, { role: 'viewer' }),
      other.call('PATCH', `/v1/members/${a}`, { role: 'viewer' }),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    // The second request came after the first (403), or would have demoted the last owner (409).
    expect([200, statuses[1]]).toEqual(statuses);
    expect([403, 409]).toContain(statuses[1]);
    const left = answers[0].status === 200 ? owner : other;
    const last = left === owner ? a : b;
    expect((await remove(left, `/v1/members/${last}`)).status).toBe(409);
    expect((await left.call('PATCH', `/v1/members/${last}`, { role: 'editor' })).status).toBe(409);
    expect(
      (await left.call('PATCH', `/v1/members/${left === owner ? b : a}`, { role: 'owner' })).status,
    ).toBe(200);
  });

  it('cannot be listed with an API key', async () => {
    const { api, accountId } = await service.tenant('pro');
    expect(accountId).not.toBe('');
    expect((await api.get('/v1/members')).status).toBe(403);
    expect((await owner.call('PATCH', `/v1/members/${newId()}`, { role: 'viewer' })).status).toBe(404);
  });
});

describe('the API keys of an account', () => {
  it('are shown in full only once, are listed with name, scope, expiry and last use, and are renamed and revoked [auth.dashboard-keys, keys.manage]', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const given = { name: 'reports', scope: 'read', expires_at: expiresAt, mcp_daily_credits: 0 };
    const made = await owner.post('/v1/keys', given);
    const { apiKey, ...key } = made.body;
    expect(key).toMatchObject({ name: 'reports', scope: 'read', expiresAt, lastUsedAt: null });
    expect(key.mcpDailyCredits).toBe(0);
    expect(apiKey).toMatch(/^ek_[0-9A-Za-z]{43}$/);
    const api = owner.withKey(apiKey as string);
    expect((await api.get('/v1/keywords')).status).toBe(200);
    expect((await api.post('/v1/keywords', {})).status).toBe(403);
    const listed = (await owner.get('/v1/keys')).body.data.find(({ id }: { id: string }) => id === key.id);
    expect(listed).toEqual({ ...key, lastUsedAt: expect.any(String) as string });
    const renamed = await owner.call('PATCH', `/v1/keys/${key.id}`, { name: 'weekly' });
    expect(renamed.body).toMatchObject({ id: key.id, name: 'weekly', mcpDailyCredits: 0 });
    for (const limit of [12, null]) {
      const limited = await owner.call('PATCH', `/v1/keys/${key.id}`, { mcp_daily_credits: limit });
      expect(limited.body).toMatchObject({ name: 'weekly', mcpDailyCredits: limit });
    }
    expect((await remove(owner, `/v1/keys/${key.id}`)).status).toBe(204);
    await until('the key is refused', async () => (await api.get('/v1/keywords')).status === 401);
    expect((await owner.get('/v1/keys')).text).not.toContain(key.id as string);
  });

  it('return 404 for an editor if they belong to another member, but not for an owner [keys.own]', async () => {
    const ed = await joined(owner, 'ed@example.org', 'editor');
    const mine = (await ed.post('/v1/keys', { name: 'mine' })).body.id as string;
    const owners = (await owner.post('/v1/keys', { name: 'not mine' })).body.id as string;
    expect((await ed.get('/v1/keys')).body.data.map(({ id }: { id: string }) => id)).toEqual([mine]);
    expect((await remove(ed, `/v1/keys/${owners}`)).status).toBe(404);
    for (const change of [{ name: 'x' }, { mcp_daily_credits: 5 }, {}])
      expect((await ed.call('PATCH', `/v1/keys/${owners}`, change)).status).toBe(404);
    expect((await owner.get('/v1/keys')).text).toContain(mine);
    expect((await remove(owner, `/v1/keys/${mine}`)).status).toBe(204);
  });

  it('are stored encrypted for a repetition with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': newId() };
    const [first, second] = [
      await owner.post('/v1/keys', { name: 'once' }, headers),
      await owner.post('/v1/keys', { name: 'once' }, headers),
    ];
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
    const ed = await signedIn(service, 'ed@example.org');
    expect((await ed.post('/v1/keys', { name: 'once' }, headers)).status).toBe(422);
    const rows: { body: string }[] = await service.database.query('SELECT body FROM idempotency_records');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(first.body.apiKey);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(81) }, 'name'],
    [{ name: 'k', scope: 'admin' }, 'scope'],
    [{ name: 'k', expires_at: '2020-01-01' }, 'expires_at'],
    [{ name: 'k', expiresAt: '2020-01-01' }, 'expiresAt'],
    [{ name: 'k', expires_at: '9999-12-31T23:59:59-14:00' }, 'expires_at'],
    [{ name: 'k', apiKey: 'ek_' }, 'apiKey'],
  ])('are refused with the body %j, and the field is named', async (body, path) => {
    const answer = await owner.post('/v1/keys', body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  it.each(['', ' '])('keep their name if the new name is %j', async (name) => {
    const { id } = (await owner.post('/v1/keys', { name: 'kept' })).body;
    const answer = await owner.call('PATCH', `/v1/keys/${id}`, { name });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'name']);
    const listed = (await owner.get('/v1/keys')).body.data.find((key: { id: string }) => key.id === id);
    expect(listed.name).toBe('kept');
  });
});

describe('the signing secret', () => {
  it('is read and rotated by owners, and the previous secret is valid for 24 hours [auth.signing-secret, signing-secret.rotate]', async () => {
    const before = (await owner.get('/v1/signing-secret')).body;
    expect(before).toEqual({
      signingSecret: expect.stringMatching(/^whsec_/) as string,
      previousValidUntil: null,
    });
    const rotated = (await owner.post('/v1/signing-secret/rotate')).body;
    expect(rotated.signingSecret).not.toBe(before.signingSecret);
    expect(Math.round((Date.parse(rotated.previousValidUntil) - Date.now()) / 3_600_000)).toBe(24);
    expect((await owner.get('/v1/signing-secret')).body).toEqual(rotated);
  });
});

describe('the plan and the packs', () => {
  it('can be changed by owners, unless PLAN_CHANGES allows this only to the command line [account.plan]', async () => {
    expect((await owner.post('/v1/account/plan', { plan: 'growth' })).body).toEqual({ plan: 'growth' });
    expect((await owner.get('/v1/account')).body.plan).toBe('growth');
    const pack = (await owner.post('/v1/credits/packs', { credits: 1000 })).body;
    expect((await owner.get('/v1/credits')).body.packs).toEqual([
      expect.objectContaining({ id: pack.id, granted: 1000, expiresAt: null }),
    ]);
    expect((await owner.post('/v1/account/plan', { plan: 'gold' })).body.details[0].path).toBe('plan');
    expect((await owner.post('/v1/credits/packs', { credits: 0 })).body.details[0].path).toBe('credits');
    await owner.post('/v1/account/plan', { plan: 'unlimited' });
    const strict = new Browser(await service.anotherGateway({ PLAN_CHANGES: 'cli' }));
    strict.cookie = owner.cookie;
    strict.csrfToken = owner.csrfToken;
    expect((await strict.post('/v1/account/plan', { plan: 'growth' })).status).toBe(403);
    expect((await strict.post('/v1/credits/packs', { credits: 1 })).status).toBe(403);
    expect((await strict.get('/v1/auth/options')).body.planChanges).toBe('cli');
  });
});

describe('the audit log', () => {
  it('has each write with its author and outcome, newest first, and no values of the body [audit.log]', async () => {
    const secret = `hunter2 ${newId()}`;
    await owner.post('/v1/auth/password', { current_password: secret, new_password: secret });
    const key = (await owner.post('/v1/keys', { name: 'robot' })).body;
    await owner.withKey(key.apiKey as string).patch('/v1/account', { timezone: 'Mars/Olympus' });
    await owner.get('/v1/keywords');
    await owner.post('/v1/keywords/estimate', {});
    const page = (await owner.get('/v1/audit-log?limit=3')).body;
    expect(page.data).toEqual([
      expect.objectContaining({
        method: 'PATCH',
        route: '/v1/account',
        bodyKeys: ['timezone'],
        status: 400,
        by: { kind: 'key', id: key.id, name: 'robot' },
      }),
      expect.objectContaining({ route: '/v1/keys', status: 201, bodyKeys: ['name'] }),
      expect.objectContaining({
        route: '/v1/auth/password',
        status: 400,
        bodyKeys: ['current_password', 'new_password'],
        by: { kind: 'member', id: await memberIdOf(owner), name: 'ada@example.org' },
      }),
    ]);
    const all = JSON.stringify(await service.database.query('SELECT * FROM audit_log'));
    expect(all).not.toContain(secret);
    expect(all).not.toContain(key.apiKey);
    const rest = await owner.get(`/v1/audit-log?limit=200&cursor=${page.nextCursor}`);
    expect(rest.body.data.at(-1)).toMatchObject({ route: '/v1/auth/sign-up', status: 201 });
    for (const name of ['list_keywords', 'pause_keyword']) {
      const params = { name, arguments: {} };
      await owner.post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        { 'x-api-key': key.apiKey as string, accept: 'application/json, text/event-stream' },
      );
    }
    const [newest, before] = (await owner.get('/v1/audit-log?limit=2')).body.data;
    expect([newest.path, before.path]).toEqual(['/mcp#pause_keyword', '/v1/account']);
    const robots = await owner.get(`/v1/audit-log?by=${key.id}`);
    expect(robots.body.data.length).toBe(2);
  });

  it('has each write, even if its body has a key that Postgres cannot store unchanged', async () => {
    // The cut at 100 characters leaves half of the emoji.
    const key = `${'k'.repeat(98)}\0😀`;
    await owner.post('/v1/keys', { [key]: 1 });
    const [newest] = (await owner.get('/v1/audit-log?limit=1')).body.data;
    expect(newest).toMatchObject({ route: '/v1/keys', status: 400, bodyKeys: [`${'k'.repeat(98)}\uFFFD`] });
  });

  it('leaves out entries that are older than 365 days, although they are not deleted yet', async () => {
    const accountId = (await owner.get('/v1/auth/session')).body.account.id;
    const by = newId();
    for (const [path, age] of [
      ['/kept', '365 days -1 minute'],
      ['/too-old', '365 days 1 second'],
    ])
      await service.database.query(
        `INSERT INTO audit_log (entry_id, account_id, at, by_kind, by_id, method, route, path, body_keys, request_id,
           network_address) VALUES ($1, $2, now() - $3::interval, 'key', $4, 'POST', '/', $5, '{}', '', '')`,
        [newId(), accountId, age, by, path],
      );
    const { data } = (await owner.get(`/v1/audit-log?by=${by}`)).body;
    expect(data.map((entry: { path: string }) => entry.path)).toEqual(['/kept']);
  });
});
