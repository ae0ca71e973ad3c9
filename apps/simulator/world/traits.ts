import type { SourceId } from '#contracts';
import { charactersFrom } from './random.js';
import { COMMUNITIES, FEEDS } from './phrases.js';
import type { PostKind, SimPost } from './post.js';

/** The properties of a source's posts. */
export interface SourceTraits {
  /** The default kind of a post. */
  rootKind: PostKind;
  /** The kinds of two in five invented posts; the others have `rootKind`. */
  otherKinds?: readonly PostKind[];
  /** The kind of an answer; absent if the source has no answers. */
  answerKind?: PostKind;
  /** Share of answers among the invented posts. */
  answerShare?: number;
  hasTitle: boolean;
  /** True if a post is either a link with a title, or a text. */
  linkOrText?: true;
  /** The communities of posts, for example subreddits, feeds or repositories. */
  communities?: readonly string[];
  /** Returns an invented handle in the form of this source. */
  handleOf?(handle: string): string;
  /** True if posts have a price. */
  priced?: true;
  /** Currencies of communities that do not use EUR. */
  currencies?: Readonly<Record<string, string>>;
  /** Share of promoted posts among the invented posts. */
  promotedShare?: number;
  /** Returns the id of a post in the format of the source. */
  identify(post: SimPost): string;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const SORTABLE = '234567abcdefghijklmnopqrstuvwxyz';
const byNumber = ({ number }: SimPost) => String(number);

/** The properties of each source that determine its posts. */
export const TRAITS: Readonly<Record<SourceId, SourceTraits>> = {
  hackernews: {
    rootKind: 'story',
    answerKind: 'comment',
    answerShare: 0.7,
    hasTitle: true,
    linkOrText: true,
    identify: byNumber,
  },
  reddit: {
    rootKind: 'post',
    answerKind: 'comment',
    answerShare: 0.4,
    hasTitle: true,
    linkOrText: true,
    communities: COMMUNITIES,
    identify: (post) => `${post.kind === 'comment' ? 't1' : 't3'}_${post.number.toString(36)}`,
  },
  bluesky: {
    rootKind: 'post',
    answerKind: 'post',
    answerShare: 0.2,
    hasTitle: false,
    handleOf: (handle) => `${handle.replace('_', '-')}.bsky.example`,
    identify: (post) => `at://${didOf(post.author)}/app.bsky.feed.post/${recordKey(post)}`,
  },
  rss: {
    rootKind: 'article',
    hasTitle: true,
    communities: FEEDS,
    identify: (post) => `https://${post.community}.example/articles/${post.number}`,
  },
  x: {
    rootKind: 'post',
    answerKind: 'post',
    answerShare: 0.2,
    hasTitle: false,
    // X allows at most 15 characters.
    handleOf: (handle) => (handle.length > 15 ? handle.replace('_', '') : handle),
    // The milliseconds since X's own epoch, followed by 22 bits. So ids sort by time.
    identify: (post) =>
      String(((BigInt(post.publishedAt) - 1_288_834_974_657n) << 22n) | BigInt(post.number % 4096)),
  },
  youtube: {
    rootKind: 'video',
    hasTitle: true,
    // The last six characters make the id unique.
    identify: ({ number }) => charactersFrom(`video ${number}`, BASE64URL, 5) + base64Digits(number, 6),
  },
  tiktok: {
    rootKind: 'video',
    hasTitle: false,
    // The upper 32 bits of an id are the time of its creation in seconds.
    identify: (post) => String((BigInt(Math.floor(post.publishedAt / 1000)) << 32n) | BigInt(post.number)),
  },
  mastodon: {
    rootKind: 'post',
    answerKind: 'post',
    answerShare: 0.2,
    hasTitle: false,
    identify: (post) => String((BigInt(post.publishedAt) << 16n) | BigInt(post.number % 65_536)),
  },
  lemmy: {
    rootKind: 'post',
    answerKind: 'comment',
    answerShare: 0.5,
    hasTitle: true,
    communities: COMMUNITIES,
    identify: byNumber,
  },
  github: {
    rootKind: 'issue',
    otherKinds: ['pull_request', 'discussion', 'repository'],
    hasTitle: true,
    communities: ['acme/rocket', 'northwind/sync', 'selfhosted/listening'],
    identify: byNumber,
  },
  producthunt: { rootKind: 'post', hasTitle: true, identify: byNumber },
  stackoverflow: {
    rootKind: 'question',
    answerKind: 'answer',
    answerShare: 0.5,
    hasTitle: true,
    identify: byNumber,
  },
  // A post is the answer of an engine until a newer post replaces it. The community of the post is the engine. The
  // title of the post is the title of the linked page.
  ai_answers: {
    rootKind: 'answer',
    hasTitle: true,
    communities: ['openai', 'anthropic', 'perplexity', 'gemini'],
    identify: byNumber,
  },
  // The community is the seller's market.
  vinted: {
    rootKind: 'listing',
    hasTitle: true,
    communities: ['fr', 'de', 'pl'],
    priced: true,
    currencies: { pl: 'PLN', uk: 'GBP' },
    promotedShare: 0.1,
    identify: byNumber,
  },
};

/** Returns the permanent id (DID) of the account with this bluesky handle. */
export function didOf(handle: string): string {
  return `did:plc:${charactersFrom(handle, BASE32, 24)}`;
}

/** Returns the last digits of a number in base 64. */
function base64Digits(number: number, length: number): string {
  return Array.from({ length }, (_, n) => BASE64URL[Math.floor(number / 64 ** (length - 1 - n)) % 64]).join(
    '',
  );
}

/** Returns a content hash in bluesky's format, derived from the content. */
export function cidOf(content: string): string {
  return `bafyrei${charactersFrom(content, BASE32, 52)}`;
}

/**
 * Returns the record key of an at:// address (`…/app.bsky.feed.post/<rkey>`). The key begins with the time, so the
 * order of the keys is the order of the times.
 */
function recordKey(post: SimPost): string {
  let rest = (BigInt(post.publishedAt) * 1000n + BigInt(post.number % 1000)) << 10n;
  let key = '';
  for (let i = 0; i < 13; i++) {
    key = SORTABLE[Number(rest & 31n)]! + key;
    rest >>= 5n;
  }
  return key;
}
