import { newId } from '#kernel';
import { until } from '#testing';
import { joined, PASSWORD, signedIn } from './people.js';
import { EMAIL, type SignInScene } from './sign-in-scene.js';

/** Tests: members list and end their own sessions, and sessions expire. */
export function ownSessionTasks(scene: SignInScene): void {
  const { browser, signIn } = scene;

  describe('the sessions of a member', () => {
    it('can be listed and ended only by this member, not even by the owner of the account [sessions.list]', async () => {
      await joined(scene.owner, 'lis@example.org', 'viewer');
      const [lis, phone] = [
        await signedIn(scene.service, 'lis@example.org'),
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
      const ids = (sessions: { id: string }[]) => sessions.map(({ id }) => id);
      const ofOwner = ids((await scene.owner.get('/v1/auth/sessions')).body.data);
      expect(ofOwner.length).toBeGreaterThan(0);
      expect(ofOwner.filter((id) => ids(data).includes(id))).toEqual([]);
      expect((await scene.owner.call('DELETE', `/v1/auth/sessions/${present.id}`)).status).toBe(404);
      expect((await lis.call('DELETE', `/v1/auth/sessions/${newId()}`)).status).toBe(404);
      expect((await lis.call('DELETE', `/v1/auth/sessions/${present.id}`)).status).toBe(204);
      expect((await phone.get('/v1/auth/session')).status).toBe(401);
      expect(JSON.stringify(await scene.service.database.query('SELECT * FROM sessions'))).not.toContain(
        lis.cookie.split('=')[1],
      );
    });

    it('are deleted after they have expired', async () => {
      const ada = await signedIn(scene.service, EMAIL);
      const count = async () => {
        const rows: unknown[] = await scene.service.database.query(
          'SELECT 1 FROM sessions WHERE expires_at <= now()',
        );
        return rows.length;
      };
      await scene.service.database.query(
        `UPDATE sessions SET expires_at = now() - interval '1 second' WHERE created_at = (SELECT max(created_at) FROM sessions)`,
      );
      expect((await ada.get('/v1/auth/session')).status).toBe(401);
      expect(await count()).toBe(1);
      // A gateway deletes expired sessions at its start, and then every five minutes.
      await scene.service.anotherGateway();
      await until('the session is deleted', async () => (await count()) === 0);
    });

    it('end 30 days after the last request, and at most 90 days after the sign-in', async () => {
      const ada = await signedIn(scene.service, EMAIL);
      const expiry = async () => {
        const { data } = (await ada.get('/v1/auth/sessions')).body;
        const { expiresAt } = data.find(({ current }: { current: boolean }) => current);
        return Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000);
      };
      const set = (change: string) =>
        scene.service.database.query(
          `UPDATE sessions SET ${change} WHERE created_at = (SELECT max(created_at) FROM sessions)`,
        );
      await set(`last_seen_at = now() - interval '2 minutes', expires_at = now() + interval '1 day'`);
      expect([await expiry(), await expiry()]).toContain(30);
      await set(`last_seen_at = now() - interval '2 minutes', created_at = now() - interval '80 days'`);
      await ada.get('/v1/auth/session');
      expect(await expiry()).toBe(10);
      const { cookie } = ada;
      await scene.service.database.query(`UPDATE sessions SET expires_at = now() - interval '1 second'`);
      expect((await browser({ cookie }).get('/v1/auth/session')).status).toBe(401);
      scene.owner = await signedIn(scene.service, EMAIL);
    });

    it('share the request quota of the account with its keys [auth.shared-quota]', async () => {
      const { apiKey } = (await scene.owner.post('/v1/keys', { name: 'k' })).body;
      const remaining = (answer: { headers: Record<string, unknown> }) =>
        Number(answer.headers['ratelimit-remaining']);
      await scene.owner.post('/v1/account/plan', { plan: 'pro' });
      const one = remaining(await scene.owner.get('/v1/account'));
      await scene.owner.withKey(apiKey as string).get('/v1/account');
      const three = remaining(await scene.owner.get('/v1/account'));
      // A new minute, with a new quota, can begin between two requests.
      expect(one - three === 2 || three > one).toBe(true);
      await scene.owner.post('/v1/account/plan', { plan: 'unlimited' });
    });
  });
}
