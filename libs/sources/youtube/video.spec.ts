import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseSearchAnswer, parseVideos } from './index.js';
import { CHANNEL_ID, searchResult, videoId, videoResource } from './testing/fixtures.js';

type More = Record<string, unknown>;

/** Returns the item of video 1 in a search. `details` are its details from `videos.list`, if any. */
function one(snippet: More = {}, details: readonly object[] = []) {
  const answer = { items: [searchResult(1, SPEC_NOW, snippet)] };
  return parseSearchAnswer(answer, parseVideos({ items: details })).items[0];
}
const whole = (more: More = {}) => [videoResource(1, SPEC_NOW, more)];
const bodyOf = (...args: Parameters<typeof one>) =>
  JSON.parse(one(...args)?.bodyJson ?? '{}') as Record<string, unknown>;

const URL_1 = `https://www.youtube.com/watch?v=${videoId(1)}`;

describe('videos of YouTube', () => {
  it('are converted to items, from the search and the details', () => {
    const item = one({}, whole());
    expect(item).toMatchObject({
      itemId: videoId(1),
      eventType: 'video.created',
      kind: 'video',
      url: URL_1,
      title: "Lamp number 1 & Ada's light",
      text: 'All about lamps\n\nand all the lights there are.',
      author: 'Lamps & Lights',
      authorName: 'Lamps & Lights',
      authorUrl: `https://www.youtube.com/channel/${CHANNEL_ID}`,
      lang: 'en-GB',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 40, replies: 5 },
    });
    expect(item?.media.map(({ type, url }) => [type, url])).toEqual([
      ['video', URL_1],
      ['image', 'https://i.ytimg.example/1/high.jpg'],
    ]);
    expect(bodyOf({}, whole())).toEqual({
      id: videoId(1),
      source: 'youtube',
      url: URL_1,
      author: 'Lamps & Lights',
      publishedAt: '2026-03-04T12:00:00.000Z',
      kind: 'video',
      title: "Lamp number 1 & Ada's light",
      description: 'All about lamps\n\nand all the lights there are.',
      channelId: CHANNEL_ID,
      channelTitle: 'Lamps & Lights',
      channelUrl: `https://www.youtube.com/channel/${CHANNEL_ID}`,
      thumbnailUrl: 'https://i.ytimg.example/1/high.jpg',
      durationSeconds: 3_723,
      liveBroadcast: 'none',
      lang: 'en-GB',
      tags: ['lamp', 'light'],
      categoryId: '28',
      views: 3_000_000_001,
      likes: 40,
      comments: 5,
    });
  });

  it('have only the data of the search, with an unescaped title, if their details are missing', () => {
    expect(one()).toMatchObject({
      title: "Lamp number 1 & Ada's light",
      text: 'All about lamps ...',
      publishedAt: '2026-03-04T12:00:00.000Z',
      author: 'Lamps & Lights',
    });
    expect([one()?.engagement, one()?.lang]).toEqual([undefined, undefined]);
    expect(bodyOf()).toMatchObject({
      durationSeconds: null,
      views: null,
      likes: null,
      comments: null,
      tags: [],
      lang: null,
    });
  });

  it('have unescaped titles from the search, and unchanged titles from the details', () => {
    const snippet = { ...whole()[0]?.snippet, title: 'How to write &amp;' };
    expect(one({ title: 'How to write &amp;amp;' })?.title).toBe('How to write &amp;');
    expect(one({ title: 'How to write &amp;amp;' }, whole({ snippet }))?.title).toBe('How to write &amp;');
  });

  it.each([
    ['2019-12-05T19:00:10.000Z', '2019-12-05T19:00:10.000Z'],
    ['2026-03-04T12:00:00Z', '2026-03-04T12:00:00.000Z'],
    [undefined, undefined],
    ['1 day ago', undefined],
  ])('have a `publishedAt` of %j, which becomes the publication time %j', (publishedAt, expected) => {
    expect(one({ publishedAt })?.publishedAt).toBe(expected);
    expect(bodyOf({ publishedAt })['publishedAt']).toBe(expected ?? null);
  });

  it.each([
    ['PT4M13S', 253],
    ['PT59S', 59],
    ['PT1H', 3_600],
    ['P1DT2H', 93_600],
    ['P0D', null],
    ['four minutes', null],
    [undefined, null],
  ])('have a duration of %j, which becomes %j in `durationSeconds`', (duration, seconds) => {
    expect(bodyOf({}, whole({ contentDetails: { duration } }))['durationSeconds']).toBe(seconds);
  });

  it('contain null for counts that are hidden or unreadable', () => {
    const statistics = { viewCount: '12', likeCount: undefined, commentCount: 'many' };
    expect(bodyOf({}, whole({ statistics }))).toMatchObject({ views: 12, likes: null, comments: null });
    expect(one({}, whole({ statistics }))?.engagement).toMatchObject({ views: 12 });
  });

  it('are marked if they are upcoming broadcasts, and have authors without @', () => {
    expect(bodyOf({ liveBroadcastContent: 'upcoming' })['liveBroadcast']).toBe('upcoming');
    expect(one({ channelTitle: '@lamps' })).toMatchObject({ author: 'lamps', authorName: '@lamps' });
  });

  it('are accepted with few fields', () => {
    const little = { id: { videoId: 'abc' }, snippet: { title: 'Lamp' } };
    const { items } = parseSearchAnswer({ items: [little] }, new Map());
    expect(items[0]).toMatchObject({ url: 'https://www.youtube.com/watch?v=abc', title: 'Lamp', text: '' });
    expect([items[0]?.author, items[0]?.authorUrl, items[0]?.publishedAt]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are counted in warnings if they cannot be read, while the other videos are kept', () => {
    const channel = { id: { kind: 'youtube#channel', channelId: CHANNEL_ID }, snippet: { title: 'Lamps' } };
    const { items, warnings } = parseSearchAnswer(
      { items: [searchResult(1, SPEC_NOW), channel, searchResult(2, SPEC_NOW, { title: 7 })] },
      new Map(),
    );
    expect(items.length).toBe(1);
    expect(warnings).toEqual([
      'youtube: 1 of 3 items could not be read: no id of a video',
      'youtube: 1 of 3 items could not be read: no snippet with a title',
    ]);
  });

  it.each([[{}], [{ items: {} }], [{ items: [{ id: { videoId: 'abc' } }] }]])(
    'cause a fault if their details have an unknown structure: %j',
    (answer) => {
      expect(() => parseVideos(answer)).toThrow(expect.objectContaining({ kind: 'unknown_shape' }));
    },
  );
});
