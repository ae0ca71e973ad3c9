import { SimulatorClient, type Answer } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

const BEARER = { authorization: 'Bearer any' };
const EVERYTHING =
  'tweet.fields=entities,referenced_tweets,in_reply_to_user_id,lang,note_tweet,display_text_range,attachments,author_id,created_at&expansions=author_id,attachments.media_keys,referenced_tweets.id,referenced_tweets.id.author_id,in_reply_to_user_id&user.fields=protected&media.fields=url,variants';

interface Tweet extends Record<string, unknown> {
  id: string;
  text: string;
  entities?: Record<string, { start: number; end: number; url?: string; tag?: string; username?: string }[]>;
}
interface Found {
  data?: Tweet[];
  includes?: { users?: { id: string; username: string }[]; tweets?: Tweet[]; media?: Tweet[] };
  errors?: { value: string; title: string; parameter: string; parameters?: Record<string, string[]> }[];
  meta: Record<string, unknown>;
}

const publish = (text: string, more: object = {}) =>
  client.simulator.world.publish('x', { text, author: 'ada', ...more }).id;
const ask = (path: string) => client.ask(`/2/${path}`, BEARER);
const search = (query: string, more = '') =>
  ask(`tweets/search/recent?query=${encodeURIComponent(query)}&max_results=100${more}`);
const idsOf = (answer: Answer) => answer.json<Found>().data?.map(({ id }) => id) ?? [];
const idOf = async (handle: string) =>
  (await ask(`users/by/username/${handle}`)).json<{ data: { id: string } }>().data.id;

describe('a search on x', () => {
  it('finds words, phrases and alternatives, excludes words, and applies AND before OR', async () => {
    const one = publish('The acme rocket', { lang: 'en' });
    const two = publish('A rocket of Ácme', { lang: 'de' });
    const three = publish('A kestrel #acme $ACME', { author: 'grace' });
    expect(idsOf(await search('acme'))).toEqual([three, two, one]);
    expect(idsOf(await search('"acme rocket"'))).toEqual([one]);
    expect(idsOf(await search('rocket acme'))).toEqual([two, one]);
    expect(idsOf(await search('acme -rocket'))).toEqual([three]);
    expect(idsOf(await search('("acme rocket" OR kestrel) -is:retweet'))).toEqual([three, one]);
    expect(idsOf(await search('kestrel OR rocket lang:de'))).toEqual([three, two]);
    expect(idsOf(await search('(kestrel OR rocket) lang:de'))).toEqual([two]);
    expect(idsOf(await search('#acme'))).toEqual([three]);
    expect(idsOf(await search('$ACME'))).toEqual([three]);
    expect(idsOf(await search('from:Ada'))).toEqual([two, one]);
    expect(idsOf(await search('acme from:grace has:hashtags'))).toEqual([three]);
    const none = (await search('nothing')).json();
    expect(none).toEqual({ meta: { result_count: 0 } });
  });

  it('finds tweets by the accounts that they answer and mention, and by their attachments', async () => {
    const answerTo = publish('@grace yes, acme');
    const mention = publish('acme, says @grace');
    const picture = publish('acme', { link: 'https://pictures.example/acme.jpg' });
    const video = publish('acme', { link: 'https://pictures.example/acme.mp4' });
    const link = publish('acme', { link: 'https://acme.example/' });
    const quote = publish(`acme https://x.com/ada/status/${link}`);
    expect(idsOf(await search('to:grace'))).toEqual([answerTo]);
    expect(idsOf(await search('acme is:reply'))).toEqual([answerTo]);
    expect(idsOf(await search('@Grace'))).toEqual([mention, answerTo]);
    expect(idsOf(await search('acme has:images'))).toEqual([picture]);
    expect(idsOf(await search('acme (has:media OR has:mentions) -is:reply'))).toEqual([
      video,
      picture,
      mention,
    ]);
    expect(idsOf(await search('acme has:links -is:quote -has:media'))).toEqual([link]);
    expect(idsOf(await search('acme is:quote'))).toEqual([quote]);
    expect(idsOf(await search('url:acme.example'))).toEqual([link]);
  });

  it.each([
    ['', 'can not be empty'],
    ['is:retweet', 'at least one positive'],
    ['-acme lang:en', 'at least one positive'],
    ['acme OR', 'no viable alternative'],
    ['(acme', "missing ')'"],
    ['acme)', 'no viable alternative'],
    ['"acme', 'no viable alternative'],
    ['acme and rocket', 'Ambiguous use of and'],
    ['acme AND rocket', 'Ambiguous use of and'],
    ['acme or rocket', 'Ambiguous use of or'],
    ['near:acme', "invalid operator 'near'"],
    ['acme has:fun', "invalid operator 'has'"],
    ['a'.repeat(513), 'longer than 512'],
  ])('refuses a query that it cannot read: "%s"', async (query, message) => {
    const answer = await search(query);
    expect(answer.status).toBe(400);
    const { errors, ...problem } = answer.json<{ errors: { message: string; parameters: object }[] }>();
    expect(problem).toEqual({
      title: 'Invalid Request',
      detail: 'One or more parameters to your request was invalid.',
      type: 'https://api.x.com/2/problems/invalid-request',
    });
    expect(Object.keys(errors[0]!.parameters)).toEqual(['query']);
    expect(errors[0]!.message).toContain(message);
  });

  it('finds only tweets after an id or between two times, within the last seven days, and refuses invalid parameters', async () => {
    const old = publish('acme');
    client.clock.pass(60);
    const newer = publish('acme');
    client.clock.pass(60);
    expect(idsOf(await search('acme', `&since_id=${old}`))).toEqual([newer]);
    expect(idsOf(await search('acme', '&start_time=2026-03-01T12:00:30Z'))).toEqual([newer]);
    expect(idsOf(await search('acme', '&end_time=2026-03-01T12:00:30Z'))).toEqual([old]);
    const refusedOf = async (more: string) => {
      const answer = await search('acme', more);
      const [error] = answer.json<{ errors?: { parameters: object }[] }>().errors ?? [];
      return [answer.status, Object.keys(error?.parameters ?? {})[0]];
    };
    expect(await refusedOf('&start_time=2026-02-22T12:01:00Z')).toEqual([400, 'start_time']);
    expect(await refusedOf('&start_time=2026-03-01T12:01:55Z')).toEqual([400, 'start_time']);
    expect(await refusedOf('&start_time=yesterday')).toEqual([400, 'start_time']);
    expect(await refusedOf('&since_id=20')).toEqual([400, 'since_id']);
    expect(await refusedOf('&max_results=9')).toEqual([400, 'max_results']);
    expect(await refusedOf('&tweet.fields=text,colour')).toEqual([400, 'tweet.fields']);
    expect(await refusedOf('&colour=red')).toEqual([400, 'colour']);
    client.clock.pass(7 * 86_400 - 90);
    expect(idsOf(await search('acme'))).toEqual([newer]);
  });

  it('returns pages by tokens that stay valid while new tweets arrive', async () => {
    const ids = Array.from({ length: 25 }, (_, n) => publish(`acme ${n}`)).reverse();
    const first = (await ask('tweets/search/recent?query=acme')).json<Found>();
    expect(first.data?.map(({ id }) => id)).toEqual(ids.slice(0, 10));
    expect(first.meta).toEqual({
      newest_id: ids[0],
      oldest_id: ids[9],
      result_count: 10,
      next_token: expect.any(String),
    });
    publish('acme, later');
    const next = (token: unknown) => `&next_token=${String(token)}`;
    const rest = (await search('acme', next(first.meta.next_token))).json<Found>();
    expect(rest.data?.map(({ id }) => id)).toEqual(ids.slice(10));
    expect(rest.meta).not.toHaveProperty('next_token');
    expect((await search('acme', next('b26v89c19zqg8o3fzz'))).status).toBe(400);
  });

  it('hides the tweets of accounts that are protected, suspended or missing', async () => {
    for (const author of ['protected_ann', 'suspended_bob', 'missing_cid']) publish('acme', { author });
    expect((await search('acme')).json<Found>().meta.result_count).toBe(0);
  });

  it('requires a token, and counts requests', async () => {
    const path = '/2/tweets/search/recent?query=acme';
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const refused = await client.ask(path, headers as Record<string, string>);
      expect(refused.json()).toEqual({
        title: 'Unauthorized',
        detail: 'Unauthorized',
        type: 'about:blank',
        status: 401,
      });
      expect(refused.headers).not.toHaveProperty('x-rate-limit-limit');
    }
    expect((await client.ask(path, BEARER)).headers).toMatchObject({
      'x-rate-limit-limit': '10000',
      'x-rate-limit-remaining': '9999',
      'x-rate-limit-reset': String(client.clock.now().getTime() / 1000 + 900),
    });
    const strict = await SimulatorClient.start({ limits: { x: 1 } });
    await strict.ask(path, BEARER);
    const limited = await strict.ask(path, BEARER);
    expect([limited.status, limited.text]).toEqual([429, 'Rate limit exceeded\n']);
    await strict.stop();
  });
});

describe('a tweet of x', () => {
  const one = async (id: string) => (await ask(`tweets?ids=${id}&${EVERYTHING}`)).json<Found>();

  it('has its links shortened, its markup escaped, and offsets that count code points', async () => {
    const id = publish('🚀 <b> & #acme by @grace https://acme.example/a', {
      link: 'https://acme.example/post',
    });
    const { data = [] } = await one(id);
    const { text, entities = {} } = data[0]!;
    expect(text).toMatch(
      /^🚀 &lt;b&gt; &amp; #acme by @grace https:\/\/t\.co\/\w{10} https:\/\/t\.co\/\w{10}$/u,
    );
    const placed = Object.values(entities).flat();
    expect(placed.map(({ start, end }) => [...text].slice(start, end).join(''))).toEqual(
      placed.map(({ url, tag, username }) => url ?? (tag ? `#${tag}` : `@${username}`)),
    );
    expect(entities.urls).toMatchObject([
      { expanded_url: 'https://acme.example/a', display_url: 'acme.example/a' },
      { expanded_url: 'https://acme.example/post', unwound_url: 'https://acme.example/post' },
    ]);
    expect((await ask(`tweets?ids=${id}`)).json<Found>().data).toEqual([
      { id, text, edit_history_tweet_ids: [id] },
    ]);
  });

  it('has a shortened text, and the complete text in another field, if the text is long', async () => {
    const words = 'many words '.repeat(40).trim();
    const { data = [] } = await one(publish(words));
    expect(data[0]!.text).toMatch(/^many words .* (many|words)… https:\/\/t\.co\/\w{10}$/);
    expect([...data[0]!.text].length).toBeLessThanOrEqual(280);
    expect(data[0]!.note_tweet).toEqual({ text: words });
  });

  it('includes the objects to which the tweet refers, and a reason for each missing object', async () => {
    const quoted = publish('the first', { author: 'grace' });
    const quote = await one(
      publish(`acme https://x.com/grace/status/${quoted}`, { link: 'https://a.example/b.jpg' }),
    );
    expect(quote.data![0]!.referenced_tweets).toEqual([{ type: 'quoted', id: quoted }]);
    expect(quote.includes?.tweets?.map(({ id }) => id)).toEqual([quoted]);
    expect(quote.includes?.users?.map(({ username }) => username)).toEqual(['ada', 'grace']);
    expect(quote.includes?.media).toEqual([
      {
        media_key: `3_${quote.data![0]!.id}`,
        type: 'photo',
        url: expect.stringMatching(/^https:\/\/pbs\.twimg\.com/),
      },
    ]);
    client.simulator.world.remove('x', quoted);
    const hidden = publish('mine', { author: 'protected_ann' });
    for (const [id, title] of [
      [quoted, 'Not Found Error'],
      [hidden, 'Authorization Error'],
    ]) {
      const broken = await one(publish(`acme https://x.com/a/status/${id}`));
      expect(broken.includes).not.toHaveProperty('tweets');
      expect(broken.errors).toMatchObject([{ value: id, title, parameter: 'referenced_tweets.id' }]);
    }
  });

  it('is returned by its id together with other tweets, with a reason for each tweet that is hidden or missing', async () => {
    const found = publish('acme');
    const hidden = publish('acme', { author: 'protected_ann' });
    const banned = publish('acme', { author: 'suspended_bob' });
    const { data, errors } = (
      await ask(`tweets?ids=${[banned, found, '20', hidden, found].join(',')}`)
    ).json<Found>();
    expect(data?.map(({ id }) => id)).toEqual([found]);
    expect(errors?.map(({ value, title, parameter }) => [value, title, parameter])).toEqual([
      [banned, 'Forbidden', 'ids'],
      ['20', 'Not Found Error', 'ids'],
      [hidden, 'Authorization Error', 'ids'],
    ]);
    expect((await ask('tweets?ids=20')).json()).toEqual({
      errors: [expect.objectContaining({ value: '20' })],
    });
    for (const ids of ['', 'lamp', Array(101).fill('20').join(',')])
      expect((await ask(`tweets?ids=${ids}`)).status).toBe(400);
  });
});

describe('an account of x', () => {
  it('is protected, missing or suspended if its handle contains that word', async () => {
    const about = async (name: string) =>
      (await ask(`users/by/username/${name}?user.fields=protected`)).json<{
        data?: { id: string; username: string; protected: boolean };
        errors?: { title: string }[];
      }>();
    publish('acme', { author: 'Ada_L' });
    expect((await about('ADA_l')).data).toMatchObject({ username: 'Ada_L', protected: false });
    const { data } = await about('protected_ann');
    expect(data).toMatchObject({ username: 'protected_ann', protected: true });
    expect((await about('missing_cid')).errors).toMatchObject([{ title: 'Not Found Error' }]);
    expect((await about('suspended_bob')).errors).toMatchObject([{ title: 'Forbidden' }]);
    expect((await ask('users/by/username/not-a-name')).status).toBe(400);
    expect((await ask(`users/${data?.id}`)).json()).toMatchObject({ data: { username: 'protected_ann' } });
    expect((await ask('users/42')).json()).toMatchObject({ errors: [{ value: '42', parameter: 'id' }] });
    for (const list of ['tweets', 'followers', 'following'])
      expect((await ask(`users/${data?.id}/${list}`)).json()).toMatchObject({
        errors: [{ title: 'Authorization Error', value: data?.id }],
      });
  });

  it('returns its tweets page by page, forward and backward', async () => {
    const ids = Array.from({ length: 12 }, () => publish('hello')).reverse();
    publish('hello', { author: 'grace' });
    const path = `users/${await idOf('ada')}/tweets`;
    const first = (await ask(path)).json<Found>();
    expect(first.data?.map(({ id }) => id)).toEqual(ids.slice(0, 10));
    expect(first.meta).not.toHaveProperty('previous_token');
    const second = (await ask(`${path}?pagination_token=${String(first.meta.next_token)}`)).json<Found>();
    expect(second.data?.map(({ id }) => id)).toEqual(ids.slice(10));
    const back = await ask(`${path}?pagination_token=${String(second.meta.previous_token)}`);
    expect(idsOf(back)).toEqual(ids.slice(0, 10));
    const backTo = (size: number) =>
      `max_results=${size}&pagination_token=${String(second.meta.previous_token)}`;
    for (const size of [5, 11]) {
      const page = (await ask(`${path}?${backTo(size)}`)).json<Found>();
      expect(page.data?.map(({ id }) => id)).toEqual(ids.slice(Math.max(0, 10 - size), 10));
      const after = await ask(`${path}?pagination_token=${String(page.meta.next_token)}`);
      expect(idsOf(after)).toEqual(ids.slice(10));
    }
    const forged = await ask(`${path}?pagination_token=forged`);
    expect([forged.status, forged.json<Found>().errors?.[0]?.parameters]).toEqual([
      400,
      { pagination_token: ['forged'] },
    ]);
    expect((await ask(`users/${await idOf('grace_h')}/tweets`)).json()).toEqual({
      meta: { result_count: 0 },
    });
  });

  it('returns its followers and the accounts that it follows, each once and each with a profile', async () => {
    type List = { data?: { id: string; username: string }[]; meta: { next_token?: string } };
    const id = await idOf('ada');
    const profile = (await ask(`users/${id}?user.fields=public_metrics`)).json<{
      data: { public_metrics: Record<string, number> };
    }>();
    for (const list of ['followers', 'following'] as const) {
      const found: { id: string; username: string }[] = [];
      let token = '';
      do {
        const page = (await ask(`users/${id}/${list}?max_results=100${token}`)).json<List>();
        found.push(...(page.data ?? []));
        token = page.meta.next_token ? `&pagination_token=${page.meta.next_token}` : '';
      } while (token !== '');
      expect(found.length).toBe(profile.data.public_metrics[`${list}_count`]);
      expect(new Set(found.map((each) => each.id)).size).toBe(found.length);
      const last = found.at(-1)!;
      expect(await idOf(last.username)).toBe(last.id);
      expect((await ask(`users/${last.id}`)).json()).toMatchObject({ data: { username: last.username } });
    }
    expect((await ask(`users/${await idOf('lonely_dan')}/followers`)).json()).toEqual({
      meta: { result_count: 0 },
    });
  });
});
