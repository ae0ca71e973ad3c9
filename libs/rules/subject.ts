import type { Event } from '#contracts';

/** The values of an item that rules can read, after all readings. A key is undefined if the item has no such value. */
export interface RuleSubject {
  source: string;
  kind: string;
  title: string;
  body: string;
  url: string;
  author: string | undefined;
  community: string | undefined;
  lang: string | undefined;
  sentiment: string | undefined;
  /** -1 to 1 */
  sentimentScore: number | undefined;
  intent: string | undefined;
  /** 0 to 100 */
  relevance: number | undefined;
  /** Key and label; empty if the item is in no bucket. */
  bucket: readonly string[];
  vip: boolean;
  /** The price of a listing, in the listing's currency. */
  price: number | undefined;
  previousPrice: number | undefined;
  brand: string | undefined;
  likes: number | undefined;
  replies: number | undefined;
  shares: number | undefined;
  views: number | undefined;
  score: number | undefined;
  authorFollowers: number | undefined;
  matchedTerm: readonly string[];
  /** The answer of the agent step; null if no agent step has completed. */
  ai: Readonly<Record<string, unknown>> | null;
}

/** Returns the values of a final event that rules can read. @throws Error for an event without an item */
export function ruleSubjectOf(event: Event): RuleSubject {
  const item = event.matched?.item;
  if (!item) throw new Error(`event ${event.eventId} has no item`);
  const { sentiment, sentimentScore, intent } = event.analysis ?? {};
  const { likes, replies, shares, views, score } = item.engagement ?? {};
  return {
    source: event.source,
    kind: item.kind,
    title: item.title,
    body: item.text,
    url: item.url,
    author: item.author,
    community: item.community,
    lang: event.lang || item.lang || undefined,
    sentiment: sentiment || undefined,
    sentimentScore,
    intent: intent || undefined,
    relevance: event.relevance,
    bucket: event.bucket ? [event.bucket.key, event.bucket.label] : [],
    vip: event.vip,
    ...listingFacts(event.source === 'vinted' ? item.bodyJson : ''),
    ...{ likes, replies, shares, views, score },
    authorFollowers: followersOf(item.bodyJson),
    matchedTerm: [...new Set((event.matched?.matches ?? []).map(({ term }) => term))],
    ai: agentOutputOf(event.aiJson),
  };
}

/** Returns the prices and the brand of a listing. @param bodyJson the envelope's `listing`; empty for another source */
export function listingFacts(bodyJson: string): Pick<RuleSubject, 'price' | 'previousPrice' | 'brand'> {
  const body = (bodyJson === '' ? {} : JSON.parse(bodyJson)) as Record<string, unknown>;
  const { price, previousPrice, brand } = body;
  return {
    price: typeof price === 'number' ? price : undefined,
    previousPrice: typeof previousPrice === 'number' ? previousPrice : undefined,
    brand: typeof brand === 'string' && brand !== '' ? brand : undefined,
  };
}

/**
 * Returns the number of followers of the author, if the source returns it.
 * @param bodyJson the envelope's source object
 */
export function followersOf(bodyJson: string): number | undefined {
  // Most bodies have no such key, and are not parsed.
  if (!bodyJson.includes('"authorFollowers"')) return undefined;
  const { authorFollowers } = JSON.parse(bodyJson) as { authorFollowers?: unknown };
  return typeof authorFollowers === 'number' ? authorFollowers : undefined;
}

/** Returns the answer of an agent step; null if it has not completed. @param aiJson the envelope's `ai`, or empty */
export function agentOutputOf(aiJson: string): RuleSubject['ai'] {
  if (aiJson === '') return null;
  const { output } = JSON.parse(aiJson) as { output?: Record<string, unknown> | null };
  return output ?? null;
}
