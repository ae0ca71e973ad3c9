import { firstSignUpCode } from '#secrets';
import { Browser } from './browser.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';

const PASSWORD = 'four words in a row';
const CODE = firstSignUpCode('5e'.repeat(32));

let service: InterfaceUnderTest;
let owner: Browser;

beforeAll(async () => {
  service = await startInterface();
  owner = new Browser(service.url);
});
afterAll(() => service?.stop());

const browser = (headers?: Record<string, string>) => new Browser(service.url, headers);

async function signedIn(email = 'ada@example.org', password = PASSWORD): Promise<Browser> {
  const one = browser();
  expect((await one.post('/v1/auth/sign-in', { email, password })).status).toBe(200);
  return one;
}

describe('the first account', () => {
  it('needs the code that the start has printed, however many people try at the same time', async () => {
    expect((await owner.get('/v1/auth/options')).body).toEqual({
      signUp: 'invite',
      isFirst: true,
      hasMail: false,
      passwordLength: { min: 10, max: 200 },
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
    const others = [browser(), browser(), browser()];
    const answers = await Promise.all(
      [owner, ...others].map((one, n) =>
        one.post('/v1/auth/sign-up', {
          email: n === 0 ? 'ada@example.org' : `eve${n}@example.org`,
          password: PASSWORD,
          code: CODE.toLowerCase().replace('-', ' '),
          name: 'Acme',
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const winner = answers.find(({ status }) => status === 201);
    expect(winner?.body).toMatchObject({
      account: { name: 'Acme', plan: 'unlimited', timezone: 'UTC' },
      member: { role: 'owner' },
    });
  });
});

describe('a session', () => {
  it('is carried by a cookie that scripts and other sites do not get, and shows its member', async () => {
    const answer = await browser().post('/v1/auth/sign-in', { email: 'ADA@example.org', password: PASSWORD });
    expect(answer.headers['set-cookie']).toMatch(
      /^earshot_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const ada = await signedIn();
    const session = await ada.get('/v1/auth/session');
    expect(session.body).toEqual({ ...answer.body, csrfToken: ada.csrfToken });
    expect(ada.csrfToken).not.toBe(answer.body.csrfToken);
    expect((await ada.get('/v1/keywords')).status).toBe(200);
    expect((await browser().get('/v1/auth/session')).status).toBe(401);
  });

  it('may write only with its own x-csrf-token', async () => {
    const [ada, other] = [await signedIn(), await signedIn()];
    const rename = (headers: Record<string, string>) =>
      ada.call('PATCH', '/v1/account', { name: 'Acme' }, headers);
    expect((await rename({})).status).toBe(200);
    for (const token of ['', 'x', other.csrfToken])
      expect((await rename({ 'x-csrf-token': token })).status).toBe(403);
  });

  it('ends with a sign-out', async () => {
    const ada = await signedIn();
    const { cookie } = ada;
    expect((await ada.post('/v1/auth/sign-out')).status).toBe(204);
    expect(ada.cookie).toBe('');
    expect((await ada.get('/v1/keywords', { cookie })).status).toBe(401);
  });
});
