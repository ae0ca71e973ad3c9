import { compile, type FormatCallback } from 'html-to-text';
import { cleanText } from './shape.js';

// Very deep nesting would cause a stack overflow, and very long HTML would block the process. The time grows with the
// square of the number of tags that are not closed. Real posts and feed entries stay below these limits; the rest is
// cut off.
const MAX_DEPTH = 200;
const MAX_INPUT_LENGTH = 250_000;
const MAX_TAGS = 10_000;

const PLAIN_HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
  selector,
  options: { uppercase: false },
}));
const CELLS = ['td', 'th'].map((selector) => ({
  selector,
  format: 'block',
  options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
}));

const withShownLinks = converter(false);
const withAllLinks = converter(true);

/**
 * Converts HTML to readable text: keeps paragraphs, decodes entities, removes scripts and images. A link becomes its
 * words, or its whole address if the words are a shortened form of the address. With `addresses`, the words of any other
 * link are followed by its address in parentheses: "the page (https://x.example/y)". The address is left out if it is
 * not an address of HTTP, or if the words already are the address.
 */
export function htmlToText(html: string, { addresses = false } = {}): string {
  const convert = addresses ? withAllLinks : withShownLinks;
  const text = /[<&]/.test(html) ? convert(beginningOf(html)) : html;
  // A regular expression for the spaces at the ends of lines can overflow the stack if there are millions of spaces.
  const lines = cleanText(text).split('\n');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function beginningOf(html: string): string {
  let end = -1;
  for (let tags = 0; tags <= MAX_TAGS; tags += 1) {
    end = html.indexOf('<', end + 1);
    if (end < 0 || end >= MAX_INPUT_LENGTH) return html.slice(0, MAX_INPUT_LENGTH);
  }
  return html.slice(0, end);
}

/** Converts HTML to one line of text, for titles, names and categories. */
export function htmlToLine(html: string): string {
  return htmlToText(html).replace(/\s+/g, ' ');
}

function converter(addresses: boolean): (html: string) => string {
  return compile({
    wordwrap: false,
    formatters: { wholeLink: linkFormatter(addresses) },
    selectors: [
      { selector: 'a', format: 'wholeLink' },
      { selector: 'img', format: 'skip' },
      ...PLAIN_HEADINGS,
      ...CELLS,
    ],
    limits: { maxDepth: MAX_DEPTH, ellipsis: '' },
  });
}

function linkFormatter(addresses: boolean): FormatCallback {
  return (element, walk, builder) => {
    const href: unknown = element.attribs?.['href'];
    const address = typeof href === 'string' && /^https?:/i.test(href) ? href : undefined;
    const shown = element.children?.length === 1 ? (element.children[0]?.data ?? '') : '';
    if (address !== undefined && isShortenedFormOf(shown, address)) {
      builder.addInline(address, { noWordTransform: true });
      return;
    }
    walk(element.children, builder);
    if (addresses && address !== undefined && shown !== address) {
      builder.addInline(` (${address})`, { noWordTransform: true });
    }
  };
}

/**
 * True if the address begins with `shown`, which must contain a dot: "example.com/lo..." or "example.com" for
 * "https://example.com/long/path". `shown` can begin with the scheme, or without the scheme and `www.`.
 */
export function isShortenedFormOf(shown: string, address: string): boolean {
  const start = shown.replace(/(?:\.\.\.|…)$/, '');
  const bare = address.replace(/^https?:\/\/(www\.)?/i, '');
  return start.includes('.') && (address.startsWith(start) || bare.startsWith(start));
}
