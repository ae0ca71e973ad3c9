import { cidOf, didOf } from '../../world/traits.js';
import type { SimPost } from '../../world/post.js';

const CDN = 'https://cdn.bsky.app/img';

/** Returns a post as `searchPosts` and similar methods return it. */
export function postView(post: SimPost): object {
  const record = recordOf(post);
  const embed = embedView(post);
  return {
    uri: post.id,
    cid: cidOf(post.id + post.text),
    author: authorOf(post),
    record,
    ...(embed && { embed }),
    replyCount: post.replies.length,
    repostCount: post.score % 5,
    likeCount: post.score,
    quoteCount: post.score % 3,
    indexedAt: new Date(indexedAt(post)).toISOString(),
    viewer: { threadMuted: false, embeddingDisabled: false },
    labels: [],
  };
}

/** Returns when the network indexed the post, in epoch milliseconds: less than a second after the author's time. */
export function indexedAt(post: SimPost): number {
  return post.publishedAt + (post.number % 900);
}

/** Returns the hashtags of the text, without #. */
export function tagsOf(post: SimPost): string[] {
  return facetsOf(post.text).flatMap(({ features }) =>
    features.flatMap((feature) => ('tag' in feature ? feature.tag : [])),
  );
}

/** Returns the addresses in the text, and in the card below it. */
export function linksOf(post: SimPost): string[] {
  const inText = facetsOf(post.text).flatMap(({ features }) =>
    features.flatMap((feature) => ('uri' in feature ? feature.uri : [])),
  );
  return post.link ? [...inText, post.link] : inText;
}

function authorOf(post: SimPost): object {
  const did = didOf(post.author);
  return {
    did,
    handle: post.author,
    displayName: post.authorName,
    avatar: `${CDN}/avatar/plain/${did}/${cidOf(post.author)}@jpeg`,
    associated: {
      chat: { allowIncoming: 'following' },
      activitySubscription: { allowSubscriptions: 'followers' },
    },
    viewer: { muted: false, blockedBy: false },
    labels: [],
    createdAt: '2023-10-16T13:57:56.346Z',
  };
}

function recordOf(post: SimPost): object {
  const facets = facetsOf(post.text);
  const reference = (to: SimPost) => ({ cid: cidOf(to.id + to.text), uri: to.id });
  return {
    $type: 'app.bsky.feed.post',
    createdAt: new Date(post.publishedAt).toISOString(),
    ...(post.link && {
      embed: {
        $type: 'app.bsky.embed.external',
        external: { description: 'An article', title: 'Read more', uri: post.link },
      },
    }),
    ...(facets.length > 0 && { facets }),
    ...(post.lang && { langs: [post.lang] }),
    ...(post.parent &&
      post.root && { reply: { parent: reference(post.parent), root: reference(post.root) } }),
    text: post.text,
  };
}

function embedView(post: SimPost): object | undefined {
  if (!post.link) return undefined;
  return {
    $type: 'app.bsky.embed.external#view',
    external: { uri: post.link, title: 'Read more', description: 'An article' },
  };
}

interface Facet {
  features: (
    | { $type: string; tag: string }
    | { $type: string; uri: string }
    | { $type: string; did: string }
  )[];
  /** Offsets in UTF-8 bytes. */
  index: { byteStart: number; byteEnd: number };
}

function facetsOf(text: string): Facet[] {
  return [...text.matchAll(/https?:\/\/[^\s)]+|(?<=^|\s)#[\p{L}\p{N}_]+|(?<=^|\s)@[\w.-]+\.\w+/gu)].map(
    (match) => {
      const [found] = match;
      const byteStart = Buffer.byteLength(text.slice(0, match.index));
      const index = { byteEnd: byteStart + Buffer.byteLength(found), byteStart };
      const type = (name: string) => `app.bsky.richtext.facet#${name}`;
      if (found.startsWith('#')) return { features: [{ $type: type('tag'), tag: found.slice(1) }], index };
      if (found.startsWith('@'))
        return { features: [{ $type: type('mention'), did: didOf(found.slice(1)) }], index };
      return { features: [{ $type: type('link'), uri: found }], index };
    },
  );
}
