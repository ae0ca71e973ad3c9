import { Browser } from './browser.js';
import { FIRST_CODE, PASSWORD, signedIn } from './people.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;
/** The member who signed up first. */
let owner: Browser;
let email: string;

beforeAll(async () => {
  service = await startInterface();
  owner = new Browser(service.url);
});
afterAll(() => service?.stop());

const browser = (headers?: Record<string, string>) => new Browser(service.url, headers);

const signIn = () => signedIn(service, email);

describe('the first account', () => {
  it('needs the code that npm start printed, and only one of several simultaneous sign-ups succeeds [sessions.first]', async () => {
    expect((await owner.get('/v1/auth/options')).body).toEqual({
      signUp: 'invite',
      isFirst: true,
      hasMail: false,
      passwordLength: { min: 10, max: 200 },
      planChanges: 'owner',
    });
    const without = await owner.post('/v1/auth/sign-up', { email: 'ada@example.org', password: PASSWORD });
    expect([without.status, without.body.details]).toEqual([
      400,
      [{ path: 'code', message: 'is required: the sign-up code that npm start printed' }],
    ]);
    const wrong = await owner.post('/v1/auth/sign-up', {
      email: 'ada@example.org',
      password: PASSWORD,
      code: 'AAAA-AAAA',
    });
    expect([wrong.status, wrong.body.details[0].path]).toEqual([400, 'code']);
    const browsers = [browser(), browser(), browser(), browser()];
    const answers = await Promise.all(
      browsers.map((one, n) =>
        one.post('/v1/auth/sign-up', {
          email: `ada${n}@example.org`,
          password: PASSWORD,
          code: FIRST_CODE.toLowerCase().replace('-', ' '),
          name: 'Acme',
        }),
      ),
    );
    const won = answers.filter(({ status }) => status === 201);
    expect(won.map(({ body }) => body as object)).toEqual([
      expect.objectContaining({
        account: expect.objectContaining({ name: 'Acme', plan: 'unlimited', timezone: 'UTC' }) as object,
        member: expect.objectContaining({ role: 'owner' }) as object,
      }),
    ]);
    expect(answers.filter(({ status }) => status === 400 || status === 409).length).toBe(3);
    email = won[0]?.body.member.email;
    owner = browsers[answers.findIndex(({ status }) => status === 201)] as Browser;
    expect(await service.database.query('SELECT email FROM accounts')).toEqual([{ email }]);
    const late = { email: 'late@example.org', password: PASSWORD, code: FIRST_CODE };
    expect((await browser().post('/v1/auth/sign-up', late)).status).toBe(400);
  });
});

describe('a session', () => {
  it('has a cookie that scripts and other sites cannot use, and returns its member [sessions.cookie]', async () => {
    const answer = await browser().post('/v1/auth/sign-in', {
      email: email.toUpperCase(),
      password: PASSWORD,
    });
    expect(answer.headers['set-cookie']).toMatch(
      /^earshot_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const ada = await signIn();
    const session = await ada.get('/v1/auth/session');
    expect(session.body).toEqual({ ...answer.body, csrfToken: ada.csrfToken });
    expect(ada.csrfToken).not.toBe(answer.body.csrfToken);
    expect((await ada.get('/v1/keywords')).status).toBe(200);
    expect((await browser().get('/v1/auth/session')).status).toBe(401);
  });

  it('can write only with its own x-csrf-token [sessions.csrf]', async () => {
    const [ada, other] = [await signIn(), await signIn()];
    const rename = (headers: Record<string, string>) =>
      ada.call('PATCH', '/v1/account', { name: 'Acme' }, headers);
    expect((await rename({})).status).toBe(200);
    for (const token of ['', 'x', other.csrfToken])
      expect((await rename({ 'x-csrf-token': token })).status).toBe(403);
  });

  it('can read without x-csrf-token, but not with the token of another session [sessions.csrf]', async () => {
    const [ada, other] = [await signIn(), await signIn()];
    const statusOf = async (path: string, token: string) =>
      (await ada.get(path, { 'x-csrf-token': token })).status;
    expect((await ada.get('/v1/keywords')).status).toBe(200);
    expect(await statusOf('/v1/keywords', ada.csrfToken)).toBe(200);
    for (const token of ['', 'x', other.csrfToken]) {
      expect(await statusOf('/v1/keywords', token)).toBe(401);
      expect(await statusOf('/v1/auth/session', token)).toBe(200);
    }
  });

  it('ends with a sign-out', async () => {
    const ada = await signIn();
    const { cookie } = ada;
    expect((await ada.post('/v1/auth/sign-out')).status).toBe(204);
    expect(ada.cookie).toBe('');
    expect((await ada.get('/v1/keywords', { cookie })).status).toBe(401);
  });
});
