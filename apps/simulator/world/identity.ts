import { charactersFrom } from './random.js';
import type { SimPost } from './world.js';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const SORTABLE = '234567abcdefghijklmnopqrstuvwxyz';

/** The id that the post's source would give it. */
export function identify(post: SimPost): string {
  switch (post.source) {
    case 'hackernews':
      return String(post.number);
    case 'reddit':
      return `${post.kind === 'comment' ? 't1' : 't3'}_${post.number.toString(36)}`;
    case 'bluesky':
      return `at://${didOf(post.author)}/app.bsky.feed.post/${recordKey(post)}`;
    case 'rss':
      return `https://${post.community}.example/articles/${post.number}`;
  }
}

/** The stable id behind a bluesky handle. */
export function didOf(handle: string): string {
  return `did:plc:${charactersFrom(handle, BASE32, 24)}`;
}

/** A content hash as bluesky writes them: follows from what it stands for. */
export function cidOf(content: string): string {
  return `bafyrei${charactersFrom(content, BASE32, 52)}`;
}

/** The record key of an at:// address (`…/app.bsky.feed.post/<rkey>`): time first, so that keys sort by it. */
function recordKey(post: SimPost): string {
  let rest = (BigInt(post.publishedAt) * 1000n + BigInt(post.number % 1000)) << 10n;
  let key = '';
  for (let i = 0; i < 13; i++) {
    key = SORTABLE[Number(rest & 31n)]! + key;
    rest >>= 5n;
  }
  return key;
}
