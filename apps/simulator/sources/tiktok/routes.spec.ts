import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated TikTok', () => {
  type Found = {
    data: { videos: Record<string, unknown>[]; cursor: number; has_more: boolean; search_id: string };
    error: { code: string; message: string };
  };
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const publish = (text: string, more: object = {}) =>
    client.simulator.world.publish('tiktok', { text, author: 'ada', ...more }).id;
  const signIn = async (more: Record<string, string> = {}) => {
    const form = { client_key: 'a', client_secret: 'b', grant_type: 'client_credentials', ...more };
    const answer = await client.send('POST', '/v2/oauth/token/', String(new URLSearchParams(form)), FORM);
    return answer.json<{ access_token?: string; expires_in?: number; error?: string }>();
  };
  const query = async (body: object, fields = 'id,video_description', token?: string) => {
    const bearer = token ?? (await signIn()).access_token;
    const asked = { start_date: '20260225', end_date: '20260302', ...body };
    const path = `/v2/research/video/query/?fields=${fields}`;
    return client.post(path, asked, { authorization: `Bearer ${bearer}` });
  };
  const is = (field_name: string, ...field_values: string[]) => ({
    operation: field_values.length > 1 ? 'IN' : 'EQ',
    field_name,
    field_values,
  });
  const found = async (asked: object, more: object = {}) => {
    const { text } = await query({ query: asked, ...more });
    return [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id);
  };

  it('signs an application in with a form, for two hours', async () => {
    const { access_token: token = '', expires_in } = await signIn();
    expect(expires_in).toBe(7_200);
    expect((await query({ query: { and: [is('keyword', 'a')] } }, 'id', token)).status).toBe(200);
    client.clock.pass(7_201);
    const ended = await query({ query: { and: [is('keyword', 'a')] } }, 'id', token);
    expect([ended.status, ended.json<Found>().error.code]).toEqual([401, 'access_token_invalid']);
    expect((await signIn({ client_secret: 'wrong' })).error).toBe('invalid_client');
    expect((await signIn({ client_secret: '' })).error).toBe('invalid_client');
    expect((await signIn({ grant_type: 'password' })).error).toBe('unsupported_grant_type');
  });

  it('finds videos by the conditions `and`, `or` and `not`', async () => {
    const one = publish('The Acme rocket #rocket', { lang: 'de' });
    const two = publish('acme and kestrel', { author: 'grace' });
    expect(await found({ and: [is('keyword', 'ACME')] })).toEqual([two, one]);
    expect(await found({ and: [is('keyword', 'acme rocket')] })).toEqual([one]);
    expect(await found({ or: [is('keyword', 'kestrel'), is('keyword', 'rocket')] })).toEqual([two, one]);
    expect(await found({ and: [is('keyword', 'kestrel', 'rocket')] })).toEqual([two, one]);
    expect(await found({ and: [is('keyword', 'acme')], not: [is('username', 'grace')] })).toEqual([one]);
    expect(await found({ and: [is('hashtag_name', 'Rocket')] })).toEqual([one]);
    expect(await found({ and: [is('region_code', 'DE')] })).toEqual([one]);
    expect(await found({ and: [is('video_id', two)] })).toEqual([two]);
    expect(
      await found({ and: [{ operation: 'GTE', field_name: 'create_date', field_values: ['20260302'] }] }),
    ).toEqual([]);
    expect(await found({ and: [is('keyword', 'acme')] }, { end_date: '20260228' })).toEqual([]);
  });

  it('returns ids as JSON numbers, and only the requested fields', async () => {
    const id = publish('acme #one');
    const { text } = await query({ query: { and: [is('keyword', 'acme')] } }, 'id,username,hashtag_names');
    expect(text).toContain(`"videos":[{"id":${id},"username":"ada","hashtag_names":["one"]}]`);
    expect(Number.isSafeInteger(Number(id))).toBe(false);
  });

  it('returns later pages of a search without videos that were published after the first page', async () => {
    const ids = Array.from({ length: 5 }, (_, n) => publish(`acme ${n}`)).reverse();
    const asked = { query: { and: [is('keyword', 'acme')] }, max_count: 2 };
    const first = (await query(asked)).json<Found>();
    expect(first.data).toMatchObject({ cursor: 2, has_more: true });
    publish('acme, later');
    const { search_id } = first.data;
    expect(await found(asked.query, { ...asked, cursor: 2, search_id })).toEqual(ids.slice(2, 4));
    const last = (await query({ ...asked, cursor: 4, search_id })).json<Found>();
    expect([last.data.videos.length, last.data.has_more]).toEqual([1, false]);
    const refused = await query({ ...asked, cursor: 2, search_id: '1' });
    expect([refused.status, refused.json<Found>().error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_params', message: 'Search Id 1 is invalid or expired' }),
    ]);
  });

  it.each([
    [{ query: {} }],
    [{ query: { and: [is('colour', 'red')] } }],
    [{ query: { and: [{ operation: 'EQ', field_name: 'keyword', field_values: [] }] } }],
    [{ query: { and: [is('keyword', 'a')] }, start_date: '20260101' }],
    [{ query: { and: [is('keyword', 'a')] }, end_date: 'today' }],
    [{ query: { and: [is('keyword', 'a')] }, max_count: 101 }],
    [{ query: { and: [is('keyword', 'a')] }, cursor: -1 }],
  ])('refuses the body %j', async (body) => {
    const answer = await query(body);
    expect([answer.status, answer.json<Found>().error.code]).toEqual([400, 'invalid_params']);
  });

  it('refuses unknown fields, and a request without fields', async () => {
    for (const fields of ['', 'id,colour'])
      expect((await query({ query: { and: [is('keyword', 'a')] } }, fields)).status).toBe(400);
  });
});
