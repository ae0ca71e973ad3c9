import { generateAtomFeed, generateJsonFeed } from 'feedsmith';
import { isoFromClickHouse, type MentionRow } from '#clickhouse';

/** The content of a feed. */
export interface FeedContent {
  keywordId: string;
  name: string;
  /** The address of the document itself. */
  address: string;
  /** Newest first. */
  mentions: readonly MentionRow[];
  /** When the keyword was created: the date of a feed without mentions. */
  since: Date;
}

const MAX_TITLE_LENGTH = 120;

/** Returns an Atom 1.0 document. All text of posts is plain text, never markup. */
export function atomDocument({ keywordId, name, address, mentions, since }: FeedContent): string {
  return generateAtomFeed({
    id: `urn:uuid:${keywordId}`,
    title: { value: clean(`Mentions of ${name}`) },
    updated: mentions[0] ? dateOf(mentions[0].occurred_at) : since,
    authors: [{ name: 'Earshot' }],
    generator: { text: 'Earshot' },
    links: [{ href: address, rel: 'self', type: 'application/atom+xml' }],
    entries: mentions.map((row) => ({
      id: `urn:uuid:${row.event_id}`,
      title: { value: titleOf(row) },
      updated: dateOf(row.occurred_at),
      ...(row.published_at !== null && { published: dateOf(row.published_at) }),
      authors: [{ name: authorOf(row) }],
      categories: tagsOf(row).map((term) => ({ term })),
      content: { value: clean(row.text), type: 'text' },
      ...(isWeb(row.url) && { links: [{ href: clean(row.url), rel: 'alternate' }] }),
    })),
  });
}

/** Returns a JSON Feed 1.1 document. */
export function jsonDocument({ name, address, mentions }: FeedContent): string {
  const feed = generateJsonFeed({
    title: clean(`Mentions of ${name}`),
    feed_url: address,
    items: mentions.map((row) => ({
      id: row.event_id,
      title: titleOf(row),
      content_text: clean(row.text) || titleOf(row),
      date_published: dateOf(row.published_at ?? row.occurred_at),
      date_modified: dateOf(row.occurred_at),
      authors: [{ name: authorOf(row) }],
      tags: tagsOf(row),
      ...(row.lang && { language: row.lang }),
      ...(isWeb(row.url) && { url: clean(row.url) }),
    })),
  });
  // A JSON Feed must have a list of items, but the library leaves out an empty list.
  return JSON.stringify({ ...(feed as object), ...(mentions.length === 0 && { items: [] }) });
}

function titleOf({ title, text, source }: MentionRow): string {
  const line = clean(title || text)
    .replace(/\s+/g, ' ')
    .trim();
  if (line === '') return `Mention on ${source}`;
  return line.length > MAX_TITLE_LENGTH ? `${line.slice(0, MAX_TITLE_LENGTH - 1).toWellFormed()}…` : line;
}

function authorOf({ author_name: name, author, source }: MentionRow): string {
  return clean(name ?? author ?? '').trim() || source;
}

function tagsOf({ source, sentiment, labels }: MentionRow): string[] {
  return [source, ...(sentiment === '' ? [] : [sentiment]), ...labels];
}

function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** Removes the characters that XML does not allow, even in escaped form. */
function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these characters are removed
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
}

function dateOf(text: string): Date {
  return new Date(isoFromClickHouse(text));
}
