import { COMMUNITIES } from '../../world/phrases.js';
import { charactersFrom, seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';

const IDS = '0123456789abcdefghijklmnopqrstuvwxyz';

/** The state of a user: `open`, or the state that the name contains. */
export type UserState = 'open' | 'suspended' | 'missing';

/**
 * Returns the state of a user. It depends on the name, so that tests can choose it: `suspended` or `missing` if the
 * name contains this word, otherwise `open`. A user with `lurker` in the name moderates nothing.
 */
export function stateOf(name: string): UserState {
  const lower = name.toLowerCase();
  if (lower.includes('suspended')) return 'suspended';
  return lower.includes('missing') ? 'missing' : 'open';
}

/** Returns the response of `/user/{name}/about`, which is short for a suspended user. */
export function aboutUser(name: string, posts: readonly SimPost[]): object {
  const known = posts.find((post) => post.author.toLowerCase() === name.toLowerCase())?.author ?? name;
  const karma = { awardee_karma: 0, awarder_karma: 0 };
  if (stateOf(name) === 'suspended')
    return {
      kind: 't2',
      data: { name: known, is_suspended: true, is_blocked: false, total_karma: 0, ...karma },
    };
  const random = seededRandom('reddit user', name.toLowerCase());
  const [link, comment] = [wholeBelow(random, 9_000), wholeBelow(random, 20_000)];
  const created = 1_300_000_000 + wholeBelow(random, 400_000_000);
  return {
    kind: 't2',
    data: {
      accept_followers: true,
      ...karma,
      comment_karma: comment,
      created,
      created_utc: created,
      has_subscribed: true,
      has_verified_email: true,
      hide_from_robots: false,
      icon_img: 'https://www.redditstatic.com/avatars/defaults/v2/avatar_default_1.png',
      id: charactersFrom(known, IDS, 9),
      is_blocked: false,
      is_employee: false,
      is_friend: false,
      is_gold: false,
      is_mod: moderatedBy(name).length > 0,
      link_karma: link,
      name: known,
      pref_show_snoovatar: false,
      snoovatar_img: '',
      subreddit: null,
      total_karma: link + comment,
      verified: true,
    },
  };
}

/** Returns the response of `/user/{name}/moderated_subreddits`, without a list if the user moderates nothing. */
export function moderatedList(name: string): object {
  const subreddits = moderatedBy(name);
  return subreddits.length === 0 ? {} : { kind: 'ModeratedList', data: subreddits.map(rowOf) };
}

/** Returns one to three communities, always the same for a name; none if the name contains `lurker`. */
function moderatedBy(name: string): string[] {
  if (/lurker/i.test(name)) return [];
  const random = seededRandom('reddit moderator', name.toLowerCase());
  const first = wholeBelow(random, COMMUNITIES.length);
  const count = 1 + wholeBelow(random, 3);
  return Array.from({ length: count }, (_, n) => COMMUNITIES[(first + n) % COMMUNITIES.length]!);
}

function rowOf(name: string): object {
  const random = seededRandom('reddit community', name);
  const created = 1_150_000_000 + wholeBelow(random, 300_000_000);
  return {
    banner_img: null,
    banner_size: null,
    community_icon: '',
    created,
    created_utc: created,
    icon_img: '',
    icon_size: null,
    key_color: '',
    mod_permissions: [],
    name: `t5_${charactersFrom(name, IDS, 5)}`,
    over_18: false,
    primary_color: '',
    sr: name,
    sr_display_name_prefixed: `r/${name}`,
    subreddit_type: 'public',
    subscribers: 1_000 + name.length * 977,
    title: `All about ${name}`,
    url: `/r/${name}/`,
    user_can_crosspost: true,
    whitelist_status: 'all_ads',
  };
}
