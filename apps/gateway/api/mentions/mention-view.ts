import { isoFromClickHouse, NO_ID, type MentionRow, type RuleView } from '#clickhouse';
import { excerptOf } from './excerpt.js';

interface Match {
  term: string;
  field: 'title' | 'text';
  start: number;
  end: number;
}

/** Returns a mention as the interface returns it. */
export function mentionView(row: MentionRow) {
  const matches = JSON.parse(row.matches) as Match[];
  return {
    id: row.event_id,
    keywordId: idOf(row.keyword_id),
    watchId: idOf(row.watch_id),
    exploreId: idOf(row.explore_id),
    searchId: idOf(row.search_id),
    source: row.source,
    type: row.type,
    kind: row.kind,
    url: row.url,
    title: row.title || null,
    text: row.text,
    excerpt: excerptOf(row.text, matches.find(({ field }) => field === 'text')?.start ?? 0),
    author: row.author,
    authorName: row.author_name,
    authorUrl: row.author_url,
    vip: row.vip,
    community: row.community,
    lang: row.lang,
    publishedAt: row.published_at === null ? null : isoFromClickHouse(row.published_at),
    occurredAt: isoFromClickHouse(row.occurred_at),
    backfilled: row.backfilled,
    matchedTerms: row.matched_terms,
    engagement: {
      likes: row.likes,
      replies: row.replies,
      shares: row.shares,
      views: row.views,
      score: row.score,
    },
    media: JSON.parse(row.media) as unknown,
    truncated: row.truncated,
    labels: row.labels,
    bucket: row.bucket === '' ? null : { key: row.bucket, label: row.bucket_label || row.bucket },
    coBrands: row.co_brands,
    ai: row.ai === '' ? null : (JSON.parse(row.ai) as unknown),
    storyId: row.story_id || null,
    listing: row.listing === '' ? null : (JSON.parse(row.listing) as unknown),
    ...analysisOf(row),
    dropped: row.dropped_reason === '' ? null : { reason: row.dropped_reason, rule: row.dropped_rule },
  };
}

/**
 * Returns the keys `analysis` and `corrected` of a mention. `corrected` is absent if the mention has no corrections. If
 * the mention has no corrections and no reader has classified it, `analysis` is absent too.
 */
function analysisOf(row: MentionRow) {
  const corrected = [
    ...(row.corrected_sentiment === '' ? [] : ['sentiment']),
    ...(row.corrected_intent === '' ? [] : ['intent']),
    ...(row.corrected_relevance === null ? [] : ['relevance']),
  ];
  if (row.reader === '' && corrected.length === 0) return {};
  return {
    analysis: {
      sentiment: row.corrected_sentiment || row.sentiment || null,
      // The score describes the sentiment that the reader found, so a mention with a corrected sentiment has no score.
      sentimentScore: row.corrected_sentiment === '' ? row.sentiment_score : null,
      intent: row.corrected_intent || row.intent || null,
      relevance: row.corrected_relevance ?? row.relevance,
      reason: row.reading_reason || null,
    },
    ...(corrected.length > 0 ? { corrected } : {}),
  };
}

/** Explains why the mention matched, and how it was treated. */
export function whyView(row: MentionRow) {
  const matches = JSON.parse(row.matches) as Match[];
  const verdicts = JSON.parse(row.verdicts) as {
    step: string;
    value: string;
    hit: boolean;
    detail: string;
  }[];
  return {
    id: row.event_id,
    matchMode: row.match_mode,
    matchedTerms: fieldsOf(matches),
    matches,
    mutes: verdicts
      .filter(({ step }) => step === 'mute')
      .map(({ value, hit, detail }) => ({ value, hit, detail })),
    vips: verdicts
      .filter(({ step }) => step === 'vip')
      .map(({ value, hit, detail }) => ({ handle: value, hit, detail })),
    rules: (row.rule_outcomes === '' ? [] : JSON.parse(row.rule_outcomes)) as RuleView[],
    readings: readingsOf(row),
    dropped: row.dropped_reason === '' ? null : { reason: row.dropped_reason, rule: row.dropped_rule },
    itemId: row.item_id,
    checkId: row.check_id,
    eventIds: [row.event_id],
  };
}

/** Returns how each reading was made, and its result (`resultOf`). A story has no record. */
function readingsOf(row: MentionRow) {
  const records = JSON.parse(row.readings || '[]') as {
    kind: string;
    reader: string;
    model: string;
    version: string;
    promptVersion: string;
    durationMs: number;
    costCredits: number;
    detail: string;
  }[];
  return records.map(({ kind, promptVersion, detail, ...made }) => ({
    kind,
    ...made,
    promptVersion: promptVersion || null,
    detail: detail || null,
    result: resultOf(kind, row),
  }));
}

/** Returns the value of a reading, before corrections; null for `co_brands`, which the mention itself contains. */
function resultOf(kind: string, row: MentionRow): unknown {
  switch (kind) {
    case 'language':
      return row.lang;
    case 'relevance':
      return row.relevance;
    case 'analysis':
      return row.reader === ''
        ? null
        : {
            sentiment: row.sentiment || null,
            sentimentScore: row.sentiment_score,
            intent: row.intent || null,
          };
    case 'bucket':
      return row.bucket || null;
    case 'agent_step':
      return row.ai === '' ? null : (JSON.parse(row.ai) as unknown);
    default:
      return null;
  }
}

/** Returns each pair of a matched term and the field in which it was found, without duplicates. */
function fieldsOf(matches: readonly Match[]): Pick<Match, 'term' | 'field'>[] {
  const places = matches.map(({ term, field }) => ({ term, field }));
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function idOf(id: string): string | null {
  return id === NO_ID ? null : id;
}
