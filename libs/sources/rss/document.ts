import { parseFeed } from 'feedsmith';
import { parseJson } from '../shared/json-answer.js';
import { listOf, recordOf, unknownShape } from '../shared/shape.js';
import { UpstreamError } from '../source.js';
import type { FeedContent } from './entry.js';
import { contentOf } from './formats.js';

/** A parsed feed. */
export interface FeedDocument {
  content: FeedContent;
  /** Number of entries in the document, including those that could not be read. */
  entryCount: number;
  /** True if the end of the document is missing. `content` has the entries before the missing part. */
  isTruncated: boolean;
}

/**
 * Maximum number of elements, attributes and values of a feed. The memory limit of a thread does not stop a single
 * large allocation: V8 then ends the whole process. 1,300,000 elements with different names ended the process; with
 * 800,000, the thread stayed within its memory limit.
 */
const MAX_PARTS = 500_000;
const FORMATS = 'RSS, Atom, RDF or JSON Feed';
const ROOTS = new Set(['rss', 'feed', 'rdf']);
const HTML = /^<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|p|h1|center|table)[\s>]/i;
// Content that can precede the first element: blanks, comments, declarations and processing instructions.
const PROLOG = /^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/;

/**
 * Reads the text of a feed of any format, leniently.
 * @throws UpstreamError `too_large` if the feed has too many parts, `not_parsable` if the text is not a feed or has a
 * DOCTYPE, `truncated` if the feed ends before its first entry is complete or its JSON is incomplete, `unknown_shape`
 * if the XML or JSON has another structure
 */
export function readDocument(text: string): FeedDocument {
  // Blanks, byte order marks and NULs before the first character are common, and other feed readers ignore them.
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  const source = text.replace(/^[\ufeff\u0000\s]+/, '');
  if (source === '') throw notAFeed('nothing');
  const isJson = source.startsWith('{');
  refuseTooManyParts(source, isJson ? /[{[,]/g : /[<=]/g);
  return isJson ? readJson(source) : readXml(source);
}

/**
 * Refuses a text with too many parts. Counts each character that can begin a part. The count includes such characters
 * inside values, because only a parser can tell the difference.
 */
function refuseTooManyParts(text: string, begins: RegExp): void {
  for (let count = 0; begins.test(text); count += 1)
    if (count >= MAX_PARTS)
      throw new UpstreamError(
        'too_large',
        `rss answered a feed with more than ${MAX_PARTS} tags, attributes or values`,
        200,
      );
}

function readJson(text: string): FeedDocument {
  const body = parseJson('rss', text);
  const content = attempt(() => contentOf(parseFeed(body)));
  if (!content) throw unknownShape('rss', FORMATS);
  return { content, entryCount: listOf(recordOf(body)?.['items'])?.length ?? 0, isTruncated: false };
}

function readXml(text: string): FeedDocument {
  const start = text.replace(PROLOG, '');
  if (HTML.test(start)) throw notAFeed('HTML');
  if (/^<!doctype/i.test(start)) {
    // A DOCTYPE can define entities that grow without bound or read files. Current feeds do not need one.
    throw new UpstreamError(
      'not_parsable',
      'rss answered a feed with a DOCTYPE, which is refused for safety',
      200,
    );
  }
  const root = /^<(?:[\w.-]+:)?([\w.-]+)/.exec(start)?.[1]?.toLowerCase();
  if (root === undefined) throw notAFeed(start === '' ? 'an empty document' : 'neither XML nor JSON');
  if (!ROOTS.has(root)) throw unknownShape('rss', `${FORMATS}, not <${root}>`);

  const isTruncated = !new RegExp(`</(?:[\\w.-]+:)?${root}\\s*>`, 'i').test(text.slice(-2_000));
  const content = attempt(() => contentOf(parseFeed(text))) ?? readCompleteEntries(text);
  if (isTruncated && (content?.entries.length ?? 0) === 0) {
    throw new UpstreamError(
      'truncated',
      'rss answered a feed that ends before its first entry is complete',
      200,
    );
  }
  if (!content) throw unknownShape('rss', FORMATS);
  return { content, entryCount: countEntries(text), isTruncated };
}

// The parser fails at an incomplete entry, so the feed is cut after its last complete entry.
function readCompleteEntries(text: string): FeedContent | undefined {
  const end = [...text.matchAll(/<\/(?:[\w.-]+:)?(?:item|entry)\s*>/gi)].at(-1);
  return end && attempt(() => contentOf(parseFeed(text.slice(0, end.index + end[0].length))));
}

function countEntries(text: string): number {
  const markup = text.replace(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g, '');
  return markup.match(/<(?:[\w.-]+:)?(?:item|entry)(?=[\s>/])/gi)?.length ?? 0;
}

// The parser's errors are not distinguished.
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
