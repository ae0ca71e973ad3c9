import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseBigNumbers, parseVideos } from './index.js';
import { answerJson, videoId, videoJson } from './testing/fixtures.js';

function read(videos: readonly string[]) {
  const answer = parseBigNumbers(answerJson(videos), 200) as { data: Record<string, unknown> };
  return parseVideos(answer.data);
}
const one = (more: Record<string, string> = {}) => read([videoJson(1, SPEC_NOW, more)]).items[0];
const bodyOf = (more: Record<string, string> = {}) =>
  JSON.parse(one(more)?.bodyJson ?? '{}') as Record<string, unknown>;
const URL_1 = `https://www.tiktok.com/@ada.lamps/video/${videoId(1)}`;

describe('videos of TikTok', () => {
  it('are converted to items', () => {
    const item = one();
    expect(item).toMatchObject({
      itemId: '7399999999999999999',
      eventType: 'tiktok_video.created',
      kind: 'video',
      url: URL_1,
      title: '',
      text: 'Lamp number 1 #lamp',
      author: 'ada.lamps',
      authorUrl: 'https://www.tiktok.com/@ada.lamps',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 3, replies: 2, shares: 1 },
    });
    expect(item?.media.map(({ type, url }) => [type, url])).toEqual([['video', URL_1]]);
    expect(bodyOf()).toEqual({
      id: '7399999999999999999',
      source: 'tiktok',
      url: URL_1,
      author: 'ada.lamps',
      publishedAt: '2026-03-04T12:00:00.000Z',
      kind: 'video',
      description: 'Lamp number 1 #lamp',
      voiceToText: 'This is a lamp',
      hashtags: ['lamp', 'light'],
      musicId: '7106506857899919361',
      effectIds: [],
      regionCode: 'DE',
      durationSeconds: 17,
      likes: 3,
      comments: 2,
      shares: 1,
      views: 3_000_000_001,
    });
  });

  it('have distinct ids, although JavaScript cannot represent their numbers exactly', () => {
    const { items } = read([1, 2, 3].map((n) => videoJson(n, SPEC_NOW)));
    expect(items.map(({ itemId }) => itemId)).toEqual([
      '7399999999999999999',
      '7399999999999999998',
      '7399999999999999997',
    ]);
  });

  it('can have their id in the documented field `video_id`, as a small number, or as a text', () => {
    expect(one({ id: 'null', video_id: '702874395068494965' })?.itemId).toBe('702874395068494965');
    expect(one({ id: '12345' })?.itemId).toBe('12345');
    expect(one({ id: '"7399999999999999999"' })?.itemId).toBe('7399999999999999999');
  });

  it('are read without the U+0000 that pads some names', () => {
    const item = one({ username: '"лампа\\u0000\\u0000\\u00004"' });
    expect([item?.author, item?.authorUrl]).toEqual([
      'лампа4',
      `https://www.tiktok.com/@${encodeURIComponent('лампа4')}`,
    ]);
    expect(JSON.stringify(item)).not.toMatch(/\\u0000|\0/);
  });

  it('are accepted without a name, a description or counts', () => {
    const little = `{"id":${videoId(1)},"create_time":1772625600}`;
    const item = read([little]).items[0];
    expect(item).toMatchObject({ url: `https://www.tiktok.com/@/video/${videoId(1)}`, text: '' });
    expect([item?.author, item?.authorUrl, item?.engagement]).toEqual([undefined, undefined, undefined]);
    expect(JSON.parse(item?.bodyJson ?? '{}')).toMatchObject({
      author: null,
      voiceToText: null,
      hashtags: [],
      musicId: null,
      regionCode: null,
      durationSeconds: null,
      likes: null,
      views: null,
    });
  });

  it('are left out and counted if they cannot be read, while the other items are kept, each once', () => {
    const { items, warnings } = read([
      videoJson(1, SPEC_NOW),
      videoJson(2, SPEC_NOW, { id: 'true' }),
      videoJson(3, SPEC_NOW, { create_time: '0' }),
      videoJson(1, SPEC_NOW),
    ]);
    expect(items.map(({ itemId }) => itemId)).toEqual([videoId(1)]);
    expect(warnings).toEqual([
      'tiktok: 1 of 4 items could not be read: no id',
      'tiktok: 1 of 4 items could not be read: no create_time',
    ]);
  });
});

describe('the numbers of an answer', () => {
  it('become texts of digits if JavaScript cannot represent them exactly', () => {
    const text =
      '{"a":7399999999999999999,"b":9007199254740991,"c":-1.5,"d":1e3,"e":"7399999999999999999","f":9007199254740993}';
    expect(parseBigNumbers(text, 200)).toEqual({
      a: '7399999999999999999',
      b: 9_007_199_254_740_991,
      c: -1.5,
      d: 1_000,
      e: '7399999999999999999',
      f: '9007199254740993',
    });
  });

  it.each([
    ['<html>', 'not_parsable'],
    ['', 'not_parsable'],
    ['{"a":73999999', 'truncated'],
    ['{"a":1,"a":2}', 'not_parsable'],
  ])('are not read from an invalid answer, which causes a fault: %j', (text, kind) => {
    expect(() => parseBigNumbers(text, 200)).toThrow(expect.objectContaining({ kind }));
  });
});
