import {
  allKeys,
  commonKeys,
  comparedTitle,
  expectKeys,
  hasRecorded,
  recorded,
} from '../testing/recorded-shapes.js';
import type { Json } from '../testing/recorded-shapes.js';
import { SimulatorClient } from '../testing/simulator-client.js';

(hasRecorded ? describe : describe.skip)(comparedTitle, () => {
  let client: SimulatorClient;

  beforeAll(async () => {
    client = await SimulatorClient.start({ historyPosts: 150 });
    client.simulator.world.publish('x', {
      text: 'acme #one @grace',
      link: 'https://pictures.example/a.mp4',
    });
  });
  afterAll(() => client.stop());

  describe('x', () => {
    type Found = {
      data: (Json & { entities?: Record<string, Json[]> })[];
      includes: Record<string, Json[]>;
      meta: Json;
      errors?: Json[];
    };
    const EVERYTHING =
      'tweet.fields=author_id,created_at,conversation_id,entities,public_metrics,referenced_tweets,in_reply_to_user_id,lang,edit_controls,possibly_sensitive,attachments,source,reply_settings&expansions=author_id,attachments.media_keys,referenced_tweets.id,referenced_tweets.id.author_id,in_reply_to_user_id&user.fields=created_at,description,entities,location,profile_image_url,protected,public_metrics,url,verified,verified_type&media.fields=duration_ms,height,preview_image_url,url,width,variants';
    const ask = async <T>(path: string) =>
      (await client.ask(`/2/${path}`, { authorization: 'Bearer any' })).json<T>();

    it('searches, tweets, accounts and videos have the recorded keys', async () => {
      const answer = await ask<Found>(
        `tweets/search/recent?query=acme%20OR%20northwind%20OR%20globex%20OR%20lumora&max_results=100&${EVERYTHING}`,
      );
      const known = [1, 2, 3].map((n) => recorded<Found>(`x/search-recent-${n}.json`));
      const today = [6, 7].map((n) => recorded<Found>(`x/tweets-lookup-${n}.json`));
      expectKeys(answer.meta, ['newest_id', 'oldest_id', 'result_count']);
      expect(allKeys([answer.meta])).toEqual(expect.not.arrayContaining(['previous_token']));
      const tweets = known.flatMap(({ data }) => data);
      // `source`, the app that sent the tweet, is left out, because X no longer returns it.
      const always = commonKeys(tweets).filter((key) => key !== 'source' && key !== 'entities');
      const ever = allKeys([...tweets, ...today.flatMap(({ data }) => data)]);
      expect(answer.data.length).toBeGreaterThan(20);
      for (const tweet of answer.data) {
        expectKeys(tweet, [...always, 'edit_controls', 'edit_history_tweet_ids']);
        expect(ever).toEqual(expect.arrayContaining(Object.keys(tweet)));
      }
      const users = [...known, ...today].flatMap(({ includes }) => includes.users!);
      for (const user of answer.includes.users!) {
        expectKeys(user, [...commonKeys(users), 'verified_type']);
        expect([...allKeys(users), 'verified_type']).toEqual(expect.arrayContaining(Object.keys(user)));
      }
      expect(Object.keys(answer.includes.media![0]!).sort()).toEqual(
        Object.keys(today[1]!.includes.media![0]!)
          .filter((key) => key !== 'public_metrics')
          .sort(),
      );
    });

    it('entities in texts have the keys of recorded entities', async () => {
      const path = `tweets/search/recent?query=(from%3Aada%20OR%20acme%20OR%20northwind)%20has%3Alinks&max_results=100&${EVERYTHING}`;
      const answer = await ask<Found>(path);
      const links = (found: Found, name: string) =>
        found.data.flatMap(({ entities }) => entities?.[name] ?? []);
      const known = [1, 2, 3].map((n) => recorded<Found>(`x/search-recent-${n}.json`));
      const cards = links(recorded<Found>('x/tweets-lookup-3.json'), 'urls');
      const own = links(answer, 'urls');
      expect(own.length).toBeGreaterThan(5);
      for (const link of own) {
        expectKeys(link, commonKeys(known.flatMap((found) => links(found, 'urls'))));
        if ('title' in link) expect(Object.keys(link).sort()).toEqual(Object.keys(cards[0]!).sort());
      }
      for (const name of ['hashtags', 'mentions']) {
        const expected = commonKeys(known.flatMap((found) => links(found, name)));
        for (const entity of links(answer, name)) expect(Object.keys(entity).sort()).toEqual(expected.sort());
      }
    });

    it('lists of accounts, and problems of hidden objects, have the recorded keys', async () => {
      const user = await ask<{ data: { id: string } }>('users/by/username/ada');
      const fields =
        'user.fields=created_at,description,location,profile_image_url,protected,public_metrics,url,verified';
      const followers = await ask<Found>(`users/${user.data.id}/followers?${fields}`);
      const known = recorded<Found>('x/user-followers-2.json');
      for (const each of followers.data)
        expectKeys(
          each,
          commonKeys(known.data).filter((key) => key !== 'location'),
        );
      expectKeys(followers.meta, ['result_count', 'next_token']);
      const pairs: [string, string][] = [
        ['tweets?ids=20', 'x/tweets-lookup-partial-1.json'],
        ['users/by/username/missing_cid', 'x/user-by-username-notfound-1.json'],
        ['users/by/username/suspended_bob', 'x/user-suspended-1.json'],
      ];
      for (const [path, file] of pairs) {
        const [error] = (await ask<Found>(path)).errors!;
        expectKeys(error!, Object.keys(recorded<Found>(file).errors![0]!));
      }
      const hidden = await ask<{ data: { id: string } }>('users/by/username/protected_ann');
      const [error] = (await ask<Found>(`users/${hidden.data.id}/tweets`)).errors!;
      expect(Object.keys(error!).sort()).toEqual(
        Object.keys(recorded<Found>('x/user-protected-1.json').errors![0]!).sort(),
      );
    });

    it('refusals have the keys of recorded refusals', async () => {
      const bad = await ask<Json>(`tweets?ids=${Array(101).fill('20').join(',')}`);
      const known = recorded<Json & { errors: Json[] }>('x/error-400-1.json');
      expect(Object.keys(bad).sort()).toEqual(Object.keys(known).sort());
      for (const status of ['401', '403', '503'] as const) {
        client.simulator.faults.add({ source: 'x', kind: status, times: 1 });
        expect(Object.keys(await ask<Json>('tweets?ids=20')).sort()).toEqual(
          Object.keys(recorded<Json>(`x/error-${status}-1.json`)).sort(),
        );
      }
    });
  });

  describe('youtube', () => {
    type Found = Json & { items: (Json & { id: unknown; snippet: Json })[] };
    const ask = async <T>(method: string, query: string) =>
      (await client.ask(`/youtube/v3/${method}?key=any&${query}`)).json<T>();

    it('searches and videos have the recorded keys', async () => {
      const found = await ask<Found>('search', 'part=snippet&order=date&maxResults=50');
      const first = recorded<Found>('youtube/search-list-1.json');
      const recent = recorded<Found>('youtube/search-list-4.json');
      expect(Object.keys(found).sort()).toEqual(Object.keys(first).sort());
      for (const item of found.items) {
        expectKeys(item, Object.keys(first.items[0]!));
        expect(Object.keys(item.snippet).sort()).toEqual(
          commonKeys(recent.items.map(({ snippet }) => snippet)).sort(),
        );
        expect(Object.keys(item.id as Json)).toEqual(['kind', 'videoId']);
      }
      const ids = found.items.map(({ id }) => (id as { videoId: string }).videoId).join(',');
      const videos = await ask<Found>('videos', `part=snippet,contentDetails,statistics&id=${ids}`);
      const known = [1, 2].map((n) => recorded<Found>(`youtube/videos-list-${n}.json`));
      expectKeys(videos, commonKeys(known));
      for (const item of videos.items) {
        expectKeys(item, ['kind', 'etag', 'id', 'snippet', 'contentDetails', 'statistics']);
        const snippets = known.flatMap(({ items }) => items.map(({ snippet }) => snippet));
        expectKeys(
          item.snippet,
          commonKeys(snippets).filter((key) => key !== 'tags' && key !== 'defaultAudioLanguage'),
        );
        expect(allKeys(snippets)).toEqual(expect.arrayContaining(Object.keys(item.snippet)));
      }
    });

    it('comments have every recorded key', async () => {
      const post = client.simulator.world.publish('youtube', {
        title: 'acme',
        text: '',
        publishedAt: '2026-02-20T00:00:00Z',
      });
      const found = await ask<Found>('commentThreads', `part=snippet&videoId=${post.id}&maxResults=5`);
      type Thread = { snippet: { topLevelComment: Json & { snippet: Json } } };
      const known = recorded<Found>('youtube/commentthreads-list-1.json');
      expect(Object.keys(found).sort()).toEqual(Object.keys(known).sort());
      const [thread, recordedThread] = [found, known].map(({ items }) => items[0] as unknown as Thread);
      expectKeys(thread!, Object.keys(recordedThread!));
      expectKeys(thread!.snippet, Object.keys(recordedThread!.snippet));
      const comments = [thread!, recordedThread!].map(({ snippet }) => snippet.topLevelComment);
      expect(Object.keys(comments[0]!).sort()).toEqual(Object.keys(comments[1]!).sort());
      expectKeys(comments[0]!.snippet, Object.keys(comments[1]!.snippet));
    });

    it('refusals have the keys of recorded refusals', async () => {
      type Refusal = { error: Json & { errors: Json[] } };
      const id = client.simulator.world.publish('youtube', { title: 'comments off', text: '' }).id;
      const off = await ask<Refusal>('commentThreads', `part=snippet&videoId=${id}`);
      expect(off).toEqual(recorded('youtube/error-403-commentsdisabled-1.json'));
      client.simulator.faults.add({ source: 'youtube', kind: '403', times: 1 });
      const refused = await ask<Refusal>('search', 'part=snippet');
      const known = recorded<Refusal>('youtube/error-403-permission-1.json');
      expect(Object.keys(refused.error).sort()).toEqual(Object.keys(known.error).sort());
      expect(refused.error.errors.map((each) => Object.keys(each).sort())).toEqual(
        known.error.errors.map((each) => Object.keys(each).sort()),
      );
    });
  });

  it('tiktok videos have the recorded keys', async () => {
    const form = 'client_key=a&client_secret=b&grant_type=client_credentials';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const token = (await client.send('POST', '/v2/oauth/token/', form, type)).json<Json>().access_token;
    const bearer = { authorization: `Bearer ${String(token)}` };
    const fields =
      'id,video_description,create_time,region_code,share_count,view_count,like_count,comment_count,music_id,hashtag_names,username,effect_ids';
    const ask = async (query: object) =>
      (
        await client.post(
          `/v2/research/video/query/?fields=${fields}`,
          { start_date: '20260220', end_date: '20260301', query },
          bearer,
        )
      ).json<{ data: Json & { videos: Json[] }; error: Json }>();
    const answer = await ask({ and: [{ operation: 'EQ', field_name: 'keyword', field_values: ['e'] }] });
    const known = [1, 2, 3].map((n) => recorded<typeof answer>(`tiktok/research-video-query-${n}.json`));
    expect(Object.keys(answer).sort()).toEqual(commonKeys(known).sort());
    expect(Object.keys(answer.data).sort()).toEqual(commonKeys(known.map(({ data }) => data)).sort());
    expect(answer.error).toEqual({
      code: 'ok',
      message: '',
      log_id: expect.stringMatching(/^[0-9A-F]{34}$/),
    });
    const videos = known.flatMap(({ data }) => data.videos);
    expect(answer.data.videos.length).toBe(20);
    for (const video of answer.data.videos) {
      expectKeys(video, commonKeys(videos));
      expect(allKeys(videos)).toEqual(expect.arrayContaining(Object.keys(video)));
    }
    expect(Object.keys((await ask({})).error).sort()).toEqual(
      Object.keys(recorded<{ error: Json }>('tiktok/error-400-cursor-1.json').error).sort(),
    );
  });

  it('the list of communities that a user of reddit moderates has the keys of a recorded list', async () => {
    const answer = await client.ask('/user/ada/moderated_subreddits', await client.reddit());
    const known = recorded<{ kind: string; data: Json[] }>('reddit/moderated_subreddits-1.json');
    const own = answer.json<typeof known>();
    expect(own.kind).toBe(known.kind);
    for (const row of own.data) expect(Object.keys(row).sort()).toEqual(commonKeys(known.data).sort());
    const none = await client.ask('/user/lurker/moderated_subreddits', await client.reddit());
    expect(none.json()).toEqual(recorded('reddit/moderated_subreddits-2.json'));
  });
});
