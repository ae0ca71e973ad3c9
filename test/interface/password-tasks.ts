import { joined, PASSWORD, signedIn } from './people.js';
import { statuses, type SignInScene } from './sign-in-scene.js';

/** Tests: members choose, change and reset their passwords. */
export function passwordTasks(scene: SignInScene): void {
  const { browser, signIn, resetToken } = scene;

  describe('a new password', () => {
    const signUp = (password: string) =>
      browser().post('/v1/auth/sign-up', { email: 'weak.password@example.org', password, code: 'AAAA' });

    it.each([
      ['a short text', 'short', 'at least 10'],
      ['a text of 201 characters', 'x'.repeat(201), 'at most 200'],
      ['nine emoji', '\u{1F600}'.repeat(9), 'at least 10'],
      ['a row of keys', 'qwertyuiop', 'try first'],
      ['a row of keys, partly in capitals', 'QWERTYuiop', 'try first'],
      ['ten digits in their order', '1234567890', 'try first'],
      ['the email address', 'Weak.Password@example.org', 'try first'],
      ['a text with a null character', 'four words in a\0row', 'U+0000'],
      ['a text of 100,000 characters', 'x'.repeat(100_000), 'at most 200'],
    ])('is refused, with the reason, if it is %s [sessions.passwords]', async (_, password, reason) => {
      const { status, body } = await signUp(password);
      expect([status, body.details]).toEqual([
        400,
        [{ path: 'password', message: expect.stringContaining(reason) as string }],
      ]);
    });

    it('is refused with 413 if it has 1 MiB', async () => {
      expect((await signUp('x'.repeat(1024 * 1024))).status).toBe(413);
    });

    it('is stored with argon2id, and is also accepted in another Unicode form of its characters', async () => {
      // The passwords have é as one character or as two, and a ligature or its letters.
      const [composed, decomposed] = ['caf\u00e9 \ufb01ne words', 'cafe\u0301 fine words'];
      const { code } = (
        await scene.owner.post('/v1/invitations', { email: 'uni@example.org', role: 'viewer' })
      ).body;
      const answer = await browser().post('/v1/auth/sign-up', {
        email: 'uni@example.org',
        password: composed,
        code,
      });
      expect(answer.status).toBe(201);
      expect((await signIn(browser(), 'uni@example.org', decomposed)).status).toBe(200);
      const rows: { password_hash: string }[] = await scene.service.database.query(
        'SELECT password_hash FROM members',
      );
      for (const { password_hash: hash } of rows)
        expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    });
  });

  describe('a changed password', () => {
    it('ends every session of the member except the present one [sessions.password-change]', async () => {
      await joined(scene.owner, 'pia@example.org', 'editor');
      const [here, there] = [
        await signedIn(scene.service, 'pia@example.org'),
        await signedIn(scene.service, 'pia@example.org'),
      ];
      const next = 'other words in a row';
      const change = (current: string) =>
        here.post('/v1/auth/password', { current_password: current, new_password: next });
      expect((await change('wrong words')).body.details[0].path).toBe('current_password');
      const camel = { currentPassword: 'wrong words', newPassword: next };
      expect((await here.post('/v1/auth/password', camel)).body.details[0].path).toBe('currentPassword');
      expect((await change(PASSWORD)).status).toBe(204);
      expect((await there.get('/v1/auth/session')).status).toBe(401);
      expect((await here.get('/v1/auth/session')).status).toBe(200);
      expect((await signIn(browser(), 'pia@example.org', PASSWORD)).status).toBe(401);
      expect((await signIn(browser(), 'pia@example.org', next)).status).toBe(200);
    });

    it('ends all sessions after a reset, whose token is accepted only once, even in simultaneous requests [sessions.reset]', async () => {
      const rob = await joined(scene.owner, 'rob@example.org', 'editor');
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
      // The other link was created for the old password, so it is not valid any more.
      expect((await confirm(other, 'fourth words in a row')).status).toBe(400);
      expect(await resetToken('nobody@example.org')).toBe('');
    });
  });
}
