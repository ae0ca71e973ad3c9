import { personFrom } from '../../world/phrases.js';
import { charactersFrom, pick, seededRandom, wholeBelow } from '../../world/random.js';
import type { World } from '../../world/world.js';
import { linkEntity } from './links.js';

const DIGITS = '0123456789';
const STATES = ['protected', 'suspended', 'missing'] as const;
const PLACES = ['Berlin', 'Lisbon', 'Osaka', 'Leeds', ''];
const TOPICS = ['kettles', 'small software', 'rockets &amp; sleds', 'gardens', 'trains'];

/** The state of an account: `open`, or the state that its handle contains. */
export type AccountState = 'open' | (typeof STATES)[number];

/**
 * Returns the state of an account. It depends on the handle, so that tests can choose it: `suspended`, `protected` or
 * `missing` if the handle contains this word, otherwise `open`.
 */
export function stateOf(handle: string): AccountState {
  return STATES.find((state) => handle.toLowerCase().includes(state)) ?? 'open';
}

/** Returns the number of the account with this handle. The case of the letters does not matter. */
export function accountIdOf(handle: string): string {
  return `1${charactersFrom(`x account ${handle.toLowerCase()}`, DIGITS, 18)}`;
}

/**
 * The accounts by their numbers. Every handle has a number, but X finds only the numbers of authors, and of accounts
 * that a response has contained as objects. A mention in a text is not such an object.
 */
export class Accounts {
  private readonly handles = new Map<string, string>();

  constructor(private readonly world: World) {}

  /** Stores the account, so that X finds it by its number. */
  show(handle: string): void {
    const id = accountIdOf(handle);
    if (!this.handles.has(id)) this.handles.set(id, handle);
  }

  /** Returns the handle in its owner's spelling. */
  spelled(name: string): string {
    const author = this.world.posts('x').find((post) => post.author.toLowerCase() === name.toLowerCase());
    return author?.author ?? this.handles.get(accountIdOf(name)) ?? name;
  }

  /** Returns the handle of an account; undefined if the number belongs to no author and to no stored account. */
  handleOf(id: string): string | undefined {
    if (!this.handles.has(id)) for (const { author } of this.world.posts('x')) this.show(author);
    return this.handles.get(id);
  }
}

/** Returns all fields of an account; `user.fields` selects the fields of the response. */
export function profileOf(handle: string): Record<string, unknown> {
  const random = seededRandom('x profile', handle.toLowerCase());
  const id = accountIdOf(handle);
  const isVerified = isVerifiedHandle(handle);
  const location = pick(random, PLACES);
  const about = `Writes about ${pick(random, TOPICS)}: `;
  const site = `https://${handle.toLowerCase().replaceAll('_', '-')}.example`;
  const [link, aboutLink] = [linkEntity(site), linkEntity(`${site}/about`)];
  return {
    id,
    name: nameOf(handle),
    username: handle,
    created_at: new Date(Date.UTC(2009 + wholeBelow(random, 14), wholeBelow(random, 12), 3)).toISOString(),
    description: about + aboutLink.url,
    entities: {
      url: { urls: [{ start: 0, end: link.url.length, ...link }] },
      description: {
        urls: [{ start: about.length, end: about.length + aboutLink.url.length, ...aboutLink }],
      },
    },
    ...(location && { location }),
    profile_image_url: `https://pbs.twimg.com/profile_images/${id}/${charactersFrom(handle, DIGITS, 8)}_normal.jpg`,
    protected: stateOf(handle) === 'protected',
    public_metrics: {
      followers_count: countOf(handle, 'followers'),
      following_count: countOf(handle, 'following'),
      tweet_count: 50 + wholeBelow(random, 5_000),
      listed_count: wholeBelow(random, 30),
      like_count: wholeBelow(random, 9_000),
    },
    url: link.url,
    verified: isVerified,
    verified_type: isVerified ? 'blue' : 'none',
  };
}

/** Returns true if the account is verified: about three of ten are. */
export function isVerifiedHandle(handle: string): boolean {
  return seededRandom('x verified', handle.toLowerCase())() < 0.3;
}

/**
 * Returns the followers of an account, or the accounts that it follows, newest first. Empty if the handle contains
 * `lonely`.
 */
export function followsOf(handle: string, which: 'followers' | 'following'): string[] {
  return Array.from({ length: countOf(handle, which) }, (_, n) => {
    const person = personFrom(seededRandom('x', which, handle.toLowerCase(), n));
    // The number at the end makes the handle unique. A handle has at most 15 characters.
    return person.handle.replace(/[_\d]+/g, '').slice(0, 12) + n;
  });
}

function countOf(handle: string, which: 'followers' | 'following'): number {
  if (/lonely/i.test(handle)) return 0;
  const random = seededRandom('x count', which, handle.toLowerCase());
  return which === 'followers' ? 110 + wholeBelow(random, 150) : 20 + wholeBelow(random, 120);
}

function nameOf(handle: string): string {
  const words = handle.split(/[_\d]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ') || handle;
}
