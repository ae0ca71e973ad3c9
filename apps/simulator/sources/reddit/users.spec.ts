import { SimulatorClient } from '../../testing/simulator-client.js';

describe('a user of reddit', () => {
  let client: SimulatorClient;
  let bearer: Record<string, string>;
  beforeAll(async () => {
    client = await SimulatorClient.start();
    bearer = await client.reddit();
  });
  afterAll(() => client.stop());

  const ask = (path: string) => client.ask(`/user/${path}?raw_json=1`, bearer);

  it('moderates some subreddits, or none', async () => {
    const list = (await ask('Ada_Byron/moderated_subreddits')).json<{ kind: string; data: object[] }>();
    expect(list.kind).toBe('ModeratedList');
    expect(list.data.length).toBeGreaterThan(0);
    expect(list.data[0]).toMatchObject({
      sr: expect.stringMatching(/^\w+$/),
      title: expect.stringContaining('All about'),
      over_18: false,
    });
    expect((await ask('ada_byron/moderated_subreddits')).json()).toEqual(list);
    expect((await ask('old_lurker/moderated_subreddits')).json()).toEqual({});
    expect((await ask('Ada_Byron/about')).json()).toMatchObject({
      kind: 't2',
      data: { name: 'Ada_Byron', is_mod: true },
    });
  });

  it('is missing or suspended if its name contains `missing` or `suspended`', async () => {
    for (const path of ['missing_cid/about', 'missing_cid/moderated_subreddits']) {
      const answer = await ask(path);
      expect([answer.status, answer.json()]).toEqual([404, { message: 'Not Found', error: 404 }]);
    }
    const forbidden = await ask('suspended_bob/moderated_subreddits');
    expect([forbidden.status, forbidden.json()]).toEqual([403, { message: 'Forbidden', error: 403 }]);
    const { data } = (await ask('suspended_bob/about')).json<{ data: object }>();
    expect(data).toEqual({
      name: 'suspended_bob',
      is_suspended: true,
      is_blocked: false,
      total_karma: 0,
      awardee_karma: 0,
      awarder_karma: 0,
    });
  });

  it('is not returned without a token', async () => {
    for (const what of ['about', 'moderated_subreddits'])
      expect((await client.ask(`/user/ada/${what}`)).status).toBe(401);
  });
});
