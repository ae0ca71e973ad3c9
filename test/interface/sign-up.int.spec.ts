import { programEnv, until } from '#testing';
import { startSimulator, type Simulator } from '../../apps/simulator/index.js';
import { readGatewayConfig } from '../../apps/gateway/config.js';
import { Browser } from './browser.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { FIRST_CODE, firstOwner, PASSWORD } from './people.js';

const PUBLIC_URL = 'https://earshot.example.org';

let sim: Simulator;
let service: InterfaceUnderTest;

beforeAll(async () => {
  sim = await startSimulator();
  service = await startInterface({ SIGN_UP: 'open', SMTP_URL: sim.smtpUrl, PUBLIC_URL });
});
afterAll(async () => {
  await service?.stop();
  await sim?.stop();
});
beforeEach(() => service.database.query('DELETE FROM auth_attempts'));

const browser = () => new Browser(service.url);
const signUp = (body: Record<string, unknown>) => browser().post('/v1/auth/sign-up', body);

/** Returns the parameters in the fragment of the link of the last mail to this address. */
function linkTo(email: string): Promise<URLSearchParams> {
  return until(`a mail to ${email}`, () => {
    const text = sim.inbox.messages('smtp', email).at(-1)?.text ?? '';
    const link = /https:\/\/earshot\.example\.org\/\S+/.exec(text)?.[0];
    return Promise.resolve(link !== undefined && new URLSearchParams(new URL(link).hash.slice(1)));
  });
}

describe('an open installation', () => {
  it('needs the printed code for its first account, although sign-up is open', async () => {
    const refused = await signUp({ email: 'early@example.org' });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'code']);
    await firstOwner(service.url);
  });

  it('returns 202 for any address, and only the mail says whether there is an account already [sessions.sign-up]', async () => {
    const [unknown, taken] = [
      await signUp({ email: 'new@example.org', password: PASSWORD }),
      await signUp({ email: 'ada@example.org', password: PASSWORD }),
    ];
    expect([unknown.status, unknown.body]).toEqual([taken.status, taken.body]);
    expect(unknown.status).toBe(202);
    const link = await linkTo('new@example.org');
    expect(link.get('email')).toBe('new@example.org');
    await until('the owner has a mail that there is an account', () =>
      Promise.resolve(
        sim.inbox
          .messages('smtp', 'ada@example.org')
          .some(({ text }) => text.includes('has an account already')),
      ),
    );
    const code = link.get('code') ?? '';
    // A code works only for its own address.
    const other = await signUp({ email: 'other@example.org', password: PASSWORD, code });
    expect([other.status, other.body.details[0].path]).toEqual([400, 'code']);
    const joined = await signUp({ email: 'new@example.org', password: PASSWORD, code, name: 'New' });
    expect(joined.body).toMatchObject({ account: { plan: 'free', name: 'New' }, member: { role: 'owner' } });
    expect((await signUp({ email: 'new@example.org', password: PASSWORD, code })).status).toBe(409);
  });

  it('lets only the operator change plans and add packs', async () => {
    const member = browser();
    await member.post('/v1/auth/sign-in', { email: 'new@example.org', password: PASSWORD });
    expect((await member.post('/v1/account/plan', { plan: 'unlimited' })).status).toBe(403);
    expect((await member.post('/v1/credits/packs', { credits: 1_000_000 })).status).toBe(403);
  });

  it('resets a password by mail, and sends nothing to unknown addresses [sessions.reset]', async () => {
    sim.inbox.clear();
    for (const email of ['stranger@example.org', 'new@example.org']) {
      const asked = await browser().post('/v1/auth/password/reset', { email });
      expect([asked.status, asked.body.command]).toEqual([202, null]);
    }
    const token = (await linkTo('new@example.org')).get('token') ?? '';
    const newPassword = 'other words in a row';
    const confirm = () =>
      browser().post('/v1/auth/password/reset/confirm', { token, new_password: newPassword });
    expect((await confirm()).status).toBe(204);
    expect((await confirm()).status).toBe(400);
    const member = browser();
    const answer = await member.post('/v1/auth/sign-in', { email: 'new@example.org', password: newPassword });
    expect(answer.status).toBe(200);
    const log = (await member.get('/v1/audit-log')).body.data as { route: string }[];
    expect(log.map(({ route }) => route)).toContain('/v1/auth/password/reset/confirm');
    await until('no mail waits', async () => {
      const rows: unknown[] = await service.database.query('SELECT 1 FROM account_mails');
      return rows.length === 0;
    });
    expect(sim.inbox.messages('smtp', 'stranger@example.org')).toEqual([]);
  });

  it('accepts at most three requests for a mail to an address in 15 minutes, and then returns 429', async () => {
    const ask = () => browser().post('/v1/auth/password/reset', { email: 'bomb@example.org' });
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([202, 202, 202]);
    const refused = await ask();
    expect([refused.status, refused.headers['retry-after'] !== undefined]).toEqual([429, true]);
  });

  it('refuses an address that would write other text into the header of a mail', async () => {
    for (const email of [
      'a@example.org\r\nBcc: b@example.org',
      'a@example.org,b@example.org',
      '"a b"@example.org',
    ])
      expect((await browser().post('/v1/auth/password/reset', { email })).body.details[0].path).toBe('email');
  });
});

describe('SIGN_UP', () => {
  it('off refuses a sign-up even with the code for the first account', async () => {
    const url = await service.anotherGateway({ SIGN_UP: 'off' });
    const body = { email: 'x@example.org', password: PASSWORD, code: FIRST_CODE };
    expect((await new Browser(url).post('/v1/auth/sign-up', body)).status).toBe(403);
    expect((await new Browser(url).get('/v1/auth/options')).body.signUp).toBe('off');
  });

  it('open is refused at the start without a mail server', () => {
    const env = programEnv(service.stores, { SIGN_UP: 'open' });
    expect(() => readGatewayConfig(env)).toThrow('SIGN_UP: open needs a mail server; set SMTP_URL');
  });
});
