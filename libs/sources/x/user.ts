import { unescaped } from '../shared/escaped-text.js';
import { isoOfText, listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { expandedText, linksOf } from './links.js';

/** An account as the author of a tweet. */
export type Author = {
  id: string;
  username: string | null;
  displayName: string | null;
  profileImageUrl: string | null;
  verified: boolean | null;
  /** True if the account has the paid blue check. Businesses and governments are verified, but have no blue check. */
  isBlueVerified: boolean | null;
};

/** An account's profile. A field is null if X does not send it. */
export type User = {
  id: string;
  username: string;
  displayName: string | null;
  description: string | null;
  createdAt: string | null;
  location: string | null;
  /** The address to which X's short link leads; the short link if X does not send the address. */
  url: string | null;
  profileImageUrl: string | null;
  verified: boolean | null;
  isBlueVerified: boolean | null;
  /** `blue`, `business`, `government` or `none`. */
  verifiedType: string | null;
  protected: boolean | null;
  metrics: {
    followers: number | null;
    following: number | null;
    tweets: number | null;
    listed: number | null;
    likes: number | null;
  };
};

/** Returns the author of a tweet. If the response does not include the author, only the id is known. */
export function authorOf(id: string | undefined, user: JsonRecord | undefined): Author | null {
  if (id === undefined) return null;
  return {
    id,
    username: textOf(user?.['username']) ?? null,
    displayName: nameOf(user),
    profileImageUrl: textOf(user?.['profile_image_url']) ?? null,
    ...verificationOf(user),
  };
}

/** Reads a user of `data`. Returns undefined if the value is not a user. */
export function userOf(value: unknown): User | undefined {
  const user = recordOf(value);
  const id = textOf(user?.['id']);
  const username = textOf(user?.['username']);
  if (!user || id === undefined || username === undefined) return undefined;
  const entities = recordOf(user['entities']);
  const metrics = recordOf(user['public_metrics']);
  const link = linksOf(recordOf(entities?.['url'])?.['urls'])[0];
  const description = textOf(user['description']);
  const about = linksOf(recordOf(entities?.['description'])?.['urls']);
  return {
    id,
    username,
    displayName: nameOf(user),
    description: description === undefined ? null : expandedText(unescaped(description), about),
    createdAt: isoOfText(user['created_at']) ?? null,
    location: textOf(user['location']) ?? null,
    url: link?.expandedUrl ?? textOf(user['url']) ?? null,
    profileImageUrl: textOf(user['profile_image_url']) ?? null,
    ...verificationOf(user),
    verifiedType: textOf(user['verified_type']) ?? null,
    protected: booleanOf(user['protected']),
    metrics: {
      followers: followersOf(user),
      following: numberOf(metrics?.['following_count']) ?? null,
      tweets: numberOf(metrics?.['tweet_count']) ?? null,
      listed: numberOf(metrics?.['listed_count']) ?? null,
      likes: numberOf(metrics?.['like_count']) ?? null,
    },
  };
}

/** Returns all users of a list; undefined if the value is not a list, or if an entry is not a user. */
export function usersOf(value: unknown): User[] | undefined {
  const entries = listOf(value);
  const users = entries?.flatMap((entry) => userOf(entry) ?? []);
  return users?.length === entries?.length ? users : undefined;
}

/** Returns the number of an account's followers; null if X does not send it. */
export function followersOf(user: JsonRecord | undefined): number | null {
  return numberOf(recordOf(user?.['public_metrics'])?.['followers_count']) ?? null;
}

/** Returns the value if it is a boolean, or null if X does not send it. */
export function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

function nameOf(user: JsonRecord | undefined): string | null {
  const name = textOf(user?.['name']);
  return name === undefined ? null : unescaped(name);
}

function verificationOf(user: JsonRecord | undefined) {
  const type = textOf(user?.['verified_type']);
  return {
    verified: booleanOf(user?.['verified']),
    isBlueVerified: type === undefined ? null : type === 'blue',
  };
}
