import { parseFeed } from 'feedsmith';
import { parseJson } from '../shared/json-answer.js';
import { listOf, recordOf, unknownShape } from '../shared/shape.js';
import { UpstreamError } from '../source.js';
import type { FeedContent } from './entry.js';
import { contentOf } from './formats.js';

/** A feed as it was read. */
export interface FeedDocument {
  content: FeedContent;
  /** Entries in the document, readable or not. */
  entryCount: number;
  /** The end is missing: what came before it was read. */
  brokenOff: boolean;
}

const FORMATS = 'RSS, Atom, RDF or JSON Feed';
const ROOTS = new Set(['rss', 'feed', 'rdf']);
const HTML = /^<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|p|h1|center|table)[\s>]/i;
// What may stand before the first element: blanks, comments, declarations and processing instructions.
const PROLOG = /^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/;

/**
 * Reads the text of a feed of any format, leniently. Throws `UpstreamError`: `not_parsable` for what is no feed,
 * `truncated` where nothing is left before the end, `unknown_shape` for mark-up of another kind.
 */
export function readDocument(text: string): FeedDocument {
  // Blank bytes, marks and NULs before the first character are common, and no reader minds them.
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const source = text.replace(/^[\ufeff\u0000\s]+/, '');
  if (source === '') throw notAFeed('nothing');
  return source.startsWith('{') ? readJson(source) : readXml(source);
}

function readJson(text: string): FeedDocument {
  const body = parseJson('rss', text);
  const content = attempt(() => contentOf(parseFeed(body)));
  if (!content) throw unknownShape('rss', FORMATS);
  return { content, entryCount: listOf(recordOf(body)?.['items'])?.length ?? 0, brokenOff: false };
}

function readXml(text: string): FeedDocument {
  const start = text.replace(PROLOG, '');
  if (HTML.test(start)) throw notAFeed('HTML');
  if (/^<!doctype/i.test(start)) {
    // A DOCTYPE can define entities that grow without bound or read files; no feed of today needs one.
    throw new UpstreamError(
      'not_parsable',
      'rss answered a feed with a DOCTYPE, which is refused for safety',
      200,
    );
  }
  const root = /^<(?:[\w.-]+:)?([\w.-]+)/.exec(start)?.[1]?.toLowerCase();
  if (root === undefined) throw notAFeed(start === '' ? 'an empty document' : 'neither XML nor JSON');
  if (!ROOTS.has(root)) throw unknownShape('rss', `${FORMATS}, not <${root}>`);

  const brokenOff = !new RegExp(`</(?:[\\w.-]+:)?${root}\\s*>`, 'i').test(text.slice(-2_000));
  const content = attempt(() => contentOf(parseFeed(text))) ?? readWhole(text);
  if (brokenOff && (content?.entries.length ?? 0) === 0) {
    throw new UpstreamError('truncated', 'rss answered a feed that breaks off before its first entry', 200);
  }
  if (!content) throw unknownShape('rss', FORMATS);
  return { content, entryCount: countEntries(text), brokenOff };
}

// The parser gives up where an entry breaks off; up to the last whole one the feed is as good as any.
function readWhole(text: string): FeedContent | undefined {
  const end = [...text.matchAll(/<\/(?:[\w.-]+:)?(?:item|entry)\s*>/gi)].at(-1);
  return end && attempt(() => contentOf(parseFeed(text.slice(0, end.index + end[0].length))));
}

function countEntries(text: string): number {
  const markup = text.replace(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g, '');
  return markup.match(/<(?:[\w.-]+:)?(?:item|entry)(?=[\s>/])/gi)?.length ?? 0;
}

// Whatever the parser dislikes, it throws; what it dislikes is not ours to tell apart.
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function notAFeed(what: string): UpstreamError {
  return new UpstreamError('not_parsable', `rss answered ${what} where a feed was expected`, 200);
}
