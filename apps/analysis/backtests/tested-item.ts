import type { MentionRow, RuleView } from '#clickhouse';
import { isoFromClickHouse } from '#clickhouse';
import type { KeywordDefinition } from '#contracts';
import { agentOutputOf, itemRulesOf, listingFacts, type RuleSubject, type Similarity } from '#rules';
import { dropOf, type Treatment } from '../domain/event-of.js';
import { treat } from '../handlers/treatment.js';
import { ruleView } from '../readmodels/rule-view.js';

/** The columns of a mention that a backtest reads. */
export const TESTED_COLUMNS = [
  ...['event_id', 'occurred_at', 'source', 'kind', 'url', 'title', 'text', 'author', 'community', 'lang'],
  ...['sentiment', 'sentiment_score', 'intent', 'relevance', 'bucket', 'bucket_label', 'listing', 'likes'],
  ...[
    'replies',
    'shares',
    'views',
    'score',
    'author_followers',
    'matched_terms',
    'ai',
    'rules',
    'match_mode',
  ],
  ...['dropped_reason', 'dropped_rule', 'title_of_parent', 'published_at', 'watch_id', 'labels'],
  ...['never_counted', 'version'],
] as const satisfies (keyof MentionRow)[];
/** A stored mention with these columns. */
export type TestedRow = Pick<MentionRow, (typeof TESTED_COLUMNS)[number]>;

/** The result of the tested rules for a mention, with the result that is stored. */
export interface TestedItem {
  row: TestedRow;
  dropped: Treatment['dropped'];
  /** The rules that ran, each with all its clauses, and whether it fires. */
  rules: RuleView[];
  /** Labels that the rules set. */
  labels: string[];
  /** Ids of rules that fire only in the test. */
  added: string[];
  /** Ids of rules that fired only when the mention was stored. */
  removed: string[];
}

/** Applies mutes, VIPs, language (see `languagesFor`), relevance and rules to a stored mention, as to a new item. */
export function testedItem(
  row: TestedRow,
  definition: KeywordDefinition,
  similarity: Similarity,
): TestedItem {
  const { dropped: muted, vip } = treat(candidateOf(row), { matchMode: row.match_mode, definition });
  const dropped = muted ?? dropOf(languagesFor(row, definition), readingOf(row));
  if (dropped) return compared(row, { dropped, rules: [], labels: [] });
  const outcome = itemRulesOf(definition.rules).outcomeOf(subjectOfRow(row, vip), similarity);
  const { stoppedBy, labels } = outcome;
  return compared(row, {
    dropped: stoppedBy === undefined ? undefined : { reason: 'rule', rule: stoppedBy },
    rules: outcome.rules.map(ruleView),
    labels,
  });
}

function compared(row: TestedRow, tested: Pick<TestedItem, 'dropped' | 'rules' | 'labels'>): TestedItem {
  const fired = tested.rules.filter((rule) => rule.fired).map(({ ruleId }) => ruleId);
  return {
    row,
    ...tested,
    added: fired.filter((id) => !row.rules.includes(id)),
    removed: row.rules.filter((id) => !fired.includes(id)),
  };
}

function candidateOf({ source, title, text, author, community }: TestedRow) {
  return { source, title, text, author: author ?? undefined, community: community ?? undefined };
}

/**
 * Returns the languages with which a mention is tested: the keyword's languages if the mention was muted or was dropped
 * for its language, otherwise none. The other mentions passed the test of their language when they were stored. The
 * test cannot be repeated for them, because their column `lang` can contain a language that only the source declared.
 */
function languagesFor(
  { dropped_reason: reason }: TestedRow,
  { languages, minRelevance }: KeywordDefinition,
): Parameters<typeof dropOf>[0] {
  return {
    languages: reason === 'language' || reason === 'muted' ? languages : [],
    ...(minRelevance !== undefined && { minRelevance }),
  };
}

/**
 * Returns the readings of a stored mention. A muted mention was not read, so it gets a relevance with which it is not
 * dropped.
 */
function readingOf({ lang, relevance }: TestedRow): Parameters<typeof dropOf>[1] {
  return { lang: lang ?? '', relevance: relevance ?? 100 };
}

/** Returns the fields of a stored mention that rules read. `ruleSubjectOf` returns the same for the mention's event. */
export function subjectOfRow(row: TestedRow, vip: boolean): RuleSubject {
  return {
    ...{ source: row.source, kind: row.kind, title: row.title, body: row.text, url: row.url, vip },
    author: row.author ?? undefined,
    community: row.community ?? undefined,
    lang: row.lang ?? undefined,
    sentiment: row.sentiment || undefined,
    sentimentScore: row.sentiment === '' ? undefined : (row.sentiment_score ?? undefined),
    intent: row.intent || undefined,
    relevance: row.relevance ?? undefined,
    bucket: row.bucket === '' ? [] : [row.bucket, row.bucket_label],
    ...listingFacts(row.listing),
    likes: row.likes ?? undefined,
    replies: row.replies ?? undefined,
    shares: row.shares ?? undefined,
    views: row.views ?? undefined,
    score: row.score ?? undefined,
    authorFollowers: row.author_followers ?? undefined,
    matchedTerm: row.matched_terms,
    ai: agentOutputOf(row.ai),
  };
}

/** Returns a tested mention in the form of the API. */
export function testedView({ row, dropped, rules, labels, added, removed }: TestedItem) {
  return {
    mentionId: row.event_id,
    occurredAt: isoFromClickHouse(row.occurred_at),
    source: row.source,
    title: row.title || null,
    url: row.url,
    dropped: dropped ?? null,
    droppedThen: row.dropped_reason === '' ? null : { reason: row.dropped_reason, rule: row.dropped_rule },
    labels,
    rules,
    added,
    removed,
  };
}
