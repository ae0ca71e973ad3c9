import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseList, parseSearch, type ResponseOrigin } from './index.js';
import { commentUrl, commentView, inV4, postUrl, postView, type More } from './testing/fixtures.js';

const ORIGIN: ResponseOrigin = {
  host: 'light.example',
  site: { languages: new Map([[37, 'en']]) },
  now: SPEC_NOW,
};

describe('posts and comments of Lemmy', () => {
  const post = (more: More = {}) =>
    parseList({ posts: [postView(1, SPEC_NOW, more)] }, 'post', ORIGIN).items[0];
  const comment = (more: More = {}) =>
    parseList({ comments: [commentView(1, SPEC_NOW, more)] }, 'comment', ORIGIN).items[0];
  const bodyOf = (item: ReturnType<typeof post>) =>
    JSON.parse(item?.bodyJson ?? '{}') as Record<string, unknown>;

  it('are converted to items: a post', () => {
    expect(post()).toMatchObject({
      itemId: postUrl(1),
      eventType: 'lemmy_post.created',
      kind: 'post',
      url: postUrl(1),
      title: 'A lamp, number 1',
      text: 'Lamp **number 1**',
      author: 'Ada@lamps.example',
      authorName: 'Ada B.',
      authorUrl: 'https://lamps.example/u/Ada',
      community: 'lighting@light.example',
      lang: 'en',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 20, replies: 4, score: 17 },
      media: [],
    });
    expect(bodyOf(post())).toEqual({
      id: postUrl(1),
      source: 'lemmy',
      url: postUrl(1),
      author: 'Ada@lamps.example',
      publishedAt: '2026-03-04T12:00:00.000Z',
      instance: 'light.example',
      localId: '999',
      kind: 'post',
      title: 'A lamp, number 1',
      text: 'Lamp **number 1**',
      link: null,
      linkTitle: null,
      linkDescription: null,
      altText: null,
      thumbnail: null,
      community: 'lighting@light.example',
      communityTitle: 'Lighting',
      communityUrl: 'https://light.example/c/lighting',
      authorName: 'Ada B.',
      authorUrl: 'https://lamps.example/u/Ada',
      bot: false,
      nsfw: false,
      locked: false,
      lang: 'en',
      updatedAt: null,
      score: 17,
      upvotes: 20,
      downvotes: 3,
      replies: 4,
      postUrl: postUrl(1),
      parentId: null,
    });
  });

  it('are converted to items: a comment, with the keys of a post and the title of its post', () => {
    expect(comment()).toMatchObject({
      itemId: commentUrl(1),
      eventType: 'lemmy_comment.created',
      kind: 'comment',
      url: commentUrl(1),
      title: 'A lamp, number 900',
      text: 'I like lamp 1.',
      engagement: { likes: 2, replies: 1, score: 2 },
    });
    expect(comment()?.lang).toBeUndefined();
    expect(Object.keys(bodyOf(comment())).sort()).toEqual(Object.keys(bodyOf(post())).sort());
    expect(bodyOf(comment())).toMatchObject({ postUrl: postUrl(900), parentId: null, link: null });
    expect(bodyOf(comment({ comment: { path: '0.17.18.4999' } }))['parentId']).toBe('18');
  });

  it('are converted to the same items if version 1.0 sends them in another structure', () => {
    const views = [postView(1, SPEC_NOW), commentView(2, SPEC_NOW)];
    const old = parseSearch({ posts: [views[0]], comments: [views[1]] }, ORIGIN).items;
    const now = parseSearch({ search: views.map(inV4), next_page: 'P1' }, ORIGIN);
    expect(now.items).toEqual(old);
    expect(now.cursor).toBe('P1');
    const beta = views.map(inV4).map(({ type_, ...view }) => [type_, view] as const);
    const lists = { posts: [beta[0]?.[1]], comments: [beta[1]?.[1]] };
    expect(parseSearch(lists, ORIGIN).items).toEqual(old);
    expect(parseList({ items: [inV4(postView(1, SPEC_NOW))] }, 'post', ORIGIN).items).toEqual(
      old.slice(0, 1),
    );
  });

  it('do not include people and communities of a search result', () => {
    const search = [
      { type_: 'person', person: {} },
      { type_: 'community', community: {} },
    ];
    expect(parseSearch({ search }, ORIGIN)).toMatchObject({ items: [], warnings: [] });
  });

  it.each([
    [{ url: 'https://lamps.example/', url_content_type: 'text/html' }, 'link'],
    [{ url: 'https://lamps.example/1', url_content_type: 'image/webp' }, 'image'],
    [{ url: 'https://lamps.example/1.png' }, 'image'],
  ])('have one medium for the link %j, of the type %s', (more, type) => {
    const item = post({ post: { ...more, body: undefined, embed_title: 'Lamps', alt_text: 'A lamp' } });
    expect(item).toMatchObject({ text: '', media: [{ type, url: more.url }] });
    expect(bodyOf(item)).toMatchObject({ link: more.url, linkTitle: 'Lamps', altText: 'A lamp' });
  });

  it('keep their id and date if they are edited', () => {
    const edited = post({ post: { body: 'Other words', updated: '2026-03-04T12:30:00.000001Z' } });
    expect([edited?.itemId, edited?.publishedAt]).toEqual([postUrl(1), '2026-03-04T12:00:00.000Z']);
    expect(bodyOf(edited)['updatedAt']).toBe('2026-03-04T12:30:00.000Z');
  });

  it.each([
    ['2026-03-04T11:00:00.123456', '2026-03-04T11:00:00.123Z'],
    ['2026-03-04T11:00:00', '2026-03-04T11:00:00.000Z'],
    ['2026-03-04T12:00:00+01:00', '2026-03-04T11:00:00.000Z'],
    ['2026-03-04T12:04:00Z', '2026-03-04T12:04:00.000Z'],
    ['2031-01-01T00:00:00Z', undefined],
  ])('have a time "%s" in the response, which becomes the publication time %s', (published, publishedAt) => {
    expect(post({ post: { published } })?.publishedAt).toBe(publishedAt);
  });

  it('are marked if their author is a bot', () => {
    expect(bodyOf(post({ creator: { bot_account: true } }))['bot']).toBe(true);
  });

  it('are left out and counted in warnings if they are deleted, removed or unreadable', () => {
    const comments = [
      commentView(1, SPEC_NOW),
      commentView(2, SPEC_NOW, { comment: { deleted: true, content: '' } }),
      commentView(3, SPEC_NOW, { comment: { removed: true } }),
      commentView(4, SPEC_NOW, { post: { deleted: true } }),
      commentView(5, SPEC_NOW, { comment: { content: undefined, body: 'Lamp' } }),
      { comment: { ap_id: 'https://x.example' } },
      commentView(7, SPEC_NOW, { comment: { published: 'soon' } }),
    ];
    const { items, warnings } = parseList({ comments }, 'comment', ORIGIN);
    expect(items.map(({ itemId }) => itemId)).toEqual([commentUrl(1)]);
    expect(warnings).toEqual([
      'lemmy: 3 of 7 items left out: deleted or removed',
      'lemmy: 1 of 7 items could not be read: no content',
      'lemmy: 1 of 7 items could not be read: no post',
      'lemmy: 1 of 7 items could not be read: no time of publication',
    ]);
  });
});
