import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

interface YoutubeError {
  error: { code: number; errors: { reason: string; location?: string }[]; details?: { reason: string }[] };
}

describe('the simulated YouTube', () => {
  type Found = {
    items: { id: { videoId: string }; snippet: Record<string, unknown> }[];
    nextPageToken?: string;
    prevPageToken?: string;
    pageInfo: object;
  };
  const publish = (title: string, text = '', more: object = {}) =>
    client.simulator.world.publish('youtube', { title, text, author: 'ada', ...more }).id;
  const ask = (method: string, query: string) => client.ask(`/youtube/v3/${method}?key=any&${query}`);
  const search = (q: string, more = '') =>
    ask('search', `part=snippet&type=video&order=date&maxResults=50&q=${encodeURIComponent(q)}${more}`);
  const idsOf = (found: Found) => found.items.map(({ id }) => id.videoId);
  const found = async (q: string, more = '') => idsOf((await search(q, more)).json<Found>());
  const reasonOf = async (method: string, query: string) => {
    const { status, json } = await ask(method, query);
    const [first] = json<YoutubeError>().error.errors;
    return [status, first?.reason, first?.location];
  };

  it('finds words, phrases and alternatives in title, description and channel', async () => {
    const one = publish('The acme rocket');
    const two = publish('Rockets', 'about a rocket of acme');
    const three = publish('A kestrel', '', { author: 'Acme' });
    expect(await found('acme')).toEqual([three, two, one]);
    expect(await found('"acme rocket"')).toEqual([one]);
    expect(await found('rocket acme')).toEqual([two, one]);
    expect(await found('acme -rocket')).toEqual([three]);
    // `|` binds more strongly than the space.
    expect(await found('acme kestrel|"acme rocket"')).toEqual([three, one]);
    expect(await found('nothing')).toEqual([]);
  });

  it('filters by time, length and channel', async () => {
    const old = publish('acme');
    client.clock.pass(60);
    const newer = publish('acme', '', { author: 'grace' });
    expect(await found('acme', '&publishedAfter=2026-03-01T12:01:00Z')).toEqual([newer]);
    expect(await found('acme', '&publishedBefore=2026-03-01T12:01:00Z')).toEqual([old]);
    const [{ snippet }] = (await search('acme')).json<Found>().items as [Found['items'][number]];
    expect(await found('', `&channelId=${String(snippet.channelId)}`)).toEqual([newer]);
    const lengths = await Promise.all(
      ['short', 'medium', 'long'].map((length) => found('acme', `&videoDuration=${length}`)),
    );
    expect(lengths.flat().sort()).toEqual([newer, old].sort());
    const channels = await ask('search', 'part=snippet&q=acme&type=channel');
    expect(idsOf(channels.json<Found>())).toEqual([]);
  });

  it('returns the next and the previous page; texts are escaped in a search, but not in a list of videos', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => publish(`acme & "co's" ${n}`)).reverse();
    const page = async (token = '') =>
      (await ask('search', `part=snippet&q=acme&order=date&regionCode=DE${token}`)).json<Found>();
    const first = await page();
    expect([idsOf(first), first.nextPageToken, first.prevPageToken]).toEqual([
      ids.slice(0, 5),
      'CAUQAA',
      undefined,
    ]);
    expect(first).toMatchObject({ regionCode: 'DE', pageInfo: { totalResults: 12, resultsPerPage: 5 } });
    expect(first.items[0]!.snippet.title).toBe('acme &amp; &quot;co&#39;s&quot; 11');
    const third = await page('&pageToken=CAoQAA');
    expect([idsOf(third), third.nextPageToken]).toEqual([ids.slice(10), undefined]);
    expect(idsOf(await page(`&pageToken=${third.prevPageToken}`))).toEqual(ids.slice(5, 10));
    expect(await reasonOf('search', 'part=snippet&pageToken=lamp')).toEqual([
      400,
      'invalidPageToken',
      'pageToken',
    ]);
    type Videos = { items: { id: string; snippet: { title: string } }[] };
    const videos = (await ask('videos', `part=snippet&id=${ids[0]},lamp,${ids[1]}`)).json<Videos>();
    expect(videos.items.map(({ id, snippet }) => [id, snippet.title])).toEqual([
      [ids[0], `acme & "co's" 11`],
      [ids[1], `acme & "co's" 10`],
    ]);
  });

  it('refuses wrong keys, parameters and page sizes', async () => {
    const none = await client.ask('/youtube/v3/search?part=snippet');
    expect([none.status, none.json<YoutubeError>().error.errors[0]?.reason]).toEqual([403, 'forbidden']);
    const wrong = await client.ask('/youtube/v3/search?part=snippet&key=wrong');
    expect(wrong.status).toBe(400);
    expect(wrong.json<YoutubeError>().error.details?.[0]?.reason).toBe('API_KEY_INVALID');
    expect(await reasonOf('search', 'q=acme')).toEqual([400, 'missingRequiredParameter', 'part']);
    expect(await reasonOf('search', 'part=snippet,colour')).toEqual([400, 'unknownPart', 'part']);
    expect(await reasonOf('search', 'part=snippet&colour=red')).toEqual([400, 'invalid', undefined]);
    expect(await reasonOf('search', 'part=snippet&maxResults=51')).toEqual([
      400,
      'invalidParameter',
      'maxResults',
    ]);
    expect(await reasonOf('search', 'part=snippet&publishedAfter=today')).toEqual([
      400,
      'invalidParameter',
      'publishedAfter',
    ]);
    expect(await reasonOf('commentThreads', 'part=snippet')).toEqual([
      400,
      'missingRequiredParameter',
      'videoId',
    ]);
  });

  it('has comments that arrive one after the other, unless they are disabled', async () => {
    type Threads = {
      items: {
        id: string;
        snippet: { totalReplyCount: number; topLevelComment: { snippet: Record<string, string> } };
        replies?: { comments: object[] };
      }[];
      nextPageToken?: string;
    };
    const id = publish('acme');
    const query = `part=snippet,replies&videoId=${id}&textFormat=plainText&maxResults=100`;
    const page = async (more = '') => (await ask('commentThreads', query + more)).json<Threads>();
    expect((await page()).items).toEqual([]);
    client.clock.pass(900);
    expect((await page()).items.map(({ snippet }) => snippet.topLevelComment.snippet.publishedAt)).toEqual([
      '2026-03-01T12:15:00Z',
      '2026-03-01T12:10:00Z',
      '2026-03-01T12:05:00Z',
    ]);
    client.clock.pass(86_400);
    const first = await page();
    const pages = [first];
    for (let token = first.nextPageToken; token; token = pages.at(-1)?.nextPageToken)
      pages.push(await page(`&pageToken=${token}`));
    const ids = pages.flatMap(({ items }) => items.map((thread) => thread.id));
    expect([first.items.length, new Set(ids).size]).toEqual([100, ids.length]);
    expect(ids.length).toBeGreaterThan(100);
    for (const { snippet, replies } of first.items)
      expect(replies?.comments.length ?? 0).toBe(snippet.totalReplyCount);
    type Counted = { items: { statistics: { commentCount?: string } }[] };
    const off = publish('acme, comments off');
    const counted = (await ask('videos', `part=statistics&id=${id},${off}`)).json<Counted>();
    expect(counted.items.map(({ statistics }) => statistics.commentCount)).toEqual([
      String(ids.length),
      undefined,
    ]);
    const reason = (of: string, more = '') => reasonOf('commentThreads', `part=snippet&videoId=${of}${more}`);
    expect(await reason(off)).toEqual([403, 'commentsDisabled', 'videoId']);
    expect(await reason('lamp')).toEqual([404, 'videoNotFound', 'videoId']);
    expect(await reason(id, '&pageToken=lamp')).toEqual([400, 'invalidPageToken', 'pageToken']);
  });
});
