import type { Digest, DigestGroup, DigestItem, DigestStory, Event, Item, ItemEvent } from '#contracts';
import { beginningOf } from './beginning-of.js';

/** An item that waits for its digest, as it is stored. */
export interface WaitingItem {
  item: DigestItem;
  bucket: { key: string; label: string } | null;
  storyId: string | null;
  /** The item's own title and text, for a summary. The title of a parent post is left out. */
  own: string;
}

/** The fields of a digest, without its items. */
export type DigestHead = Pick<
  Digest,
  'id' | 'mode' | 'channelId' | 'keyword' | 'period' | 'timezone' | 'summary' | 'report'
>;

const EXCERPT_CHARACTERS = 300;
const OWN_CHARACTERS = 2_000;

/**
 * Returns the item of an event. Undefined if no digest contains the event: it has no item, is not pushed, or is hidden.
 */
export function waitingItemOf(event: Event): WaitingItem | undefined {
  const item = event.matched?.item;
  if (!item || !event.push || event.labels.includes('hidden')) return undefined;
  const { sentiment, intent } = event.analysis ?? {};
  return {
    item: {
      mentionId: event.eventId,
      source: event.source,
      kind: item.kind,
      url: item.url || null,
      title: item.title,
      excerpt: cut(item.text, EXCERPT_CHARACTERS),
      author: item.author ?? null,
      community: item.community ?? null,
      vip: event.vip,
      labels: [...event.labels],
      publishedAt: item.publishedAt ?? null,
      occurredAt: event.occurredAt,
      sentiment: sentiment || null,
      intent: intent || null,
      event: itemEventOf(event.type, item),
    },
    bucket: event.bucket ? { key: event.bucket.key, label: event.bucket.label } : null,
    storyId: event.storyId || null,
    own: cut([item.titleOfParent ? '' : item.title, item.text].filter(Boolean).join('\n'), OWN_CHARACTERS),
  };
}

/** Returns what has happened to an item. The body is read only for events that need it, because a body can be large. */
function itemEventOf(
  type: string,
  { bodyJson, previousPrice }: Pick<Item, 'bodyJson' | 'previousPrice'>,
): ItemEvent {
  const needsBody = type.startsWith('listing.') || type.startsWith('term.');
  const { price, currency, brand } = (needsBody ? JSON.parse(bodyJson) : {}) as Record<string, unknown>;
  return {
    type,
    price: typeof price === 'number' ? price : null,
    previousPrice: previousPrice ?? null,
    currency: typeof currency === 'string' ? currency : null,
    brand: typeof brand === 'string' ? brand : null,
  };
}

/**
 * Returns the digest of some items: VIPs and items with the label `to_reply` first, then the other items by bucket and
 * story.
 * @param shown at most 50, in this order: VIPs and items with the label `to_reply`, then the newest
 * @param total number of all items; `more` counts the items that are not shown
 */
export function digestOf(head: DigestHead, shown: readonly WaitingItem[], total: number): Digest {
  return {
    ...head,
    total,
    more: total - shown.length,
    priority: shown.filter(isUrgent).map(({ item }) => item),
    groups: groupsOf(shown.filter((one) => !isUrgent(one))),
  };
}

function isUrgent({ item }: WaitingItem): boolean {
  return item.vip || item.labels.includes('to_reply');
}

/**
 * Groups items by bucket, and the items of a bucket by story. The largest groups and stories come first; items without
 * a bucket are last.
 */
function groupsOf(items: readonly WaitingItem[]): DigestGroup[] {
  const groups = [...partsOf(items, ({ bucket }) => bucket?.key ?? '').entries()].map(([key, members]) => ({
    bucket: key === '' ? null : (members[0]?.bucket ?? null),
    stories: storiesOf(members),
    size: members.length,
  }));
  return groups
    .sort((a, b) => Number(a.bucket === null) - Number(b.bucket === null) || b.size - a.size)
    .map(({ bucket, stories }) => ({ bucket, stories }));
}

function storiesOf(items: readonly WaitingItem[]): DigestStory[] {
  // An item without a story forms a story alone.
  const parts = partsOf(items, ({ storyId, item }) => storyId ?? `item ${item.mentionId}`);
  return [...parts.values()]
    .map((members) => ({
      storyId: members[0]?.storyId ?? null,
      items: members.map(({ item }) => item),
    }))
    .sort((a, b) => b.items.length - a.items.length);
}

function partsOf<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const parts = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const part = parts.get(key);
    if (part) part.push(item);
    else parts.set(key, [item]);
  }
  return parts;
}

/** Shortens a text to at most `max` UTF-16 units. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : `${beginningOf(text, max - 1)}…`;
}
