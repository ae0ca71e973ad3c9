import { Kind, kindOf } from './characters.js';
import { isTopLevelDomain } from './top-level-domains.js';

/** The position of an address, in code units of the original text; `end` is exclusive. */
export interface AddressSpan {
  start: number;
  end: number;
}

const DOT = 0x2e;
const COLON = 0x3a;

const ENDS_ADDRESS = new Set([...'<>"“”«»‘`|\\^{}[]「」『』【】（），、。！？—–…']);

/**
 * Finds the URLs, the domains without a scheme (`acme.com/path`, `www.acme.com`) and the email addresses of a text, in
 * order. A handle (`@acme.example`, and the `@acme` of `@acme@social.example`) is a name and not an address. The time
 * is linear in the length of the text.
 */
export function addressesIn(text: string): AddressSpan[] {
  const spans: AddressSpan[] = [];
  // Every address contains "://" or a dot that is directly followed by a letter or a digit. Most texts
  // contain neither.
  for (let at = nextCandidate(text, 0); at < text.length; at = nextCandidate(text, at)) {
    const reached = spans.length > 0 ? spans[spans.length - 1]!.end : 0;
    let [from, to] = [at, at];
    while (from > reached && !endsAddress(text, from - 1)) from -= 1;
    while (to < text.length && !endsAddress(text, to)) to += 1;
    readChunk(text, from, to, spans);
    at = Math.max(to, at + 1);
  }
  return spans;
}

/** Returns the next position that could be inside an address. */
function nextCandidate(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === DOT && at + 1 < text.length && isHostUnit(text.charCodeAt(at + 1))) return at;
    if (unit === COLON && text.startsWith('://', at)) return at;
  }
  return text.length;
}

/** Returns true if a part of the range is in one of the spans, which are ordered and do not overlap. */
export function touchesAddress(spans: readonly AddressSpan[], start: number, end: number): boolean {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end <= start) low = middle + 1;
    else high = middle;
  }
  return low < spans.length && spans[low]!.start < end;
}

/** Adds the addresses of a chunk to `spans`. A chunk is a run of characters that do not end an address. */
function readChunk(text: string, from: number, to: number, spans: AddressSpan[]): void {
  let at = from;
  while (at < to) {
    if (!isHostUnit(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < to && (isHostUnit(text.charCodeAt(end)) || isHostInner(text.charCodeAt(end)))) end += 1;
    const span = spanFrom(text, at, end, from, to);
    if (span) spans.push(span);
    at = span ? Math.max(span.end, end) : end;
  }
}

/**
 * Returns the address that begins at `start`, if there is one. Host characters reach to `end`; the chunk is from `from`
 * to `to`.
 */
function spanFrom(
  text: string,
  start: number,
  end: number,
  from: number,
  to: number,
): AddressSpan | undefined {
  if (text.startsWith('://', end))
    return { start: schemeStart(text, start, end), end: urlEnd(text, start, to) };
  while (end > start && isHostInner(text.charCodeAt(end - 1))) end -= 1;
  if (text.charAt(end) === '@' && start > from && text.charAt(start - 1) === '@') return undefined;
  if (text.charAt(end) === '@') return emailFrom(text, start, end, to);
  const before = start > from ? text.charAt(start - 1) : '';
  if (before === '@' && !followsName(text, start - 1, from)) return undefined;
  const host = text.slice(start, end);
  if (/^www\./i.test(host)) return { start, end: urlEnd(text, start, to) };
  const withPath = end + 1 < to && /^(?:[/?#]|:\d)/.test(text.slice(end, end + 2));
  if (!isDomain(host, withPath)) return undefined;
  return { start, end: withPath ? urlEnd(text, start, to) : end };
}

function emailFrom(text: string, start: number, at: number, to: number): AddressSpan | undefined {
  let end = at + 1;
  while (end < to && (isHostUnit(text.charCodeAt(end)) || isHostInner(text.charCodeAt(end)))) end += 1;
  while (end > at + 1 && isHostInner(text.charCodeAt(end - 1))) end -= 1;
  const host = text.slice(at + 1, end);
  // `bob@acme` is not an email address, because there is no dot after the @.
  return host.includes('.') && /^[\p{L}\p{N}]/u.test(host) ? { start, end } : undefined;
}

function followsName(text: string, at: number, from: number): boolean {
  return at > from && isHostUnit(text.charCodeAt(at - 1));
}

function isDomain(host: string, withPath: boolean): boolean {
  const labels = host.split('.');
  if (labels.length < 2 || labels.some((label) => label === '')) return false;
  return isTopLevelDomain(labels[labels.length - 1]!.toLowerCase(), withPath);
}

/**
 * Returns the start of the scheme: letters, digits, `+`, `-` and `.`. Characters before it in the run are not part of
 * the URL.
 */
function schemeStart(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /[a-z0-9+.-]/i.test(text.charAt(at - 1))) at -= 1;
  return at;
}

/** Returns the end of a URL: the end of the chunk, or a closing bracket without an opening bracket. */
function urlEnd(text: string, start: number, to: number): number {
  let open = 0;
  for (let at = start; at < to; at++) {
    if (text.charAt(at) === '(') open += 1;
    else if (text.charAt(at) === ')' && --open < 0) return at;
  }
  return to;
}

function endsAddress(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const kind = kindOf(unit);
  return kind === Kind.space || kind === Kind.unspaced || ENDS_ADDRESS.has(text.charAt(at));
}

function isHostUnit(unit: number): boolean {
  const kind = kindOf(unit);
  return kind === Kind.word || kind === Kind.digit || kind === Kind.hangul || kind === Kind.mark;
}

/**
 * Returns true for characters that can be inside a host, or inside the name before an @, but not at the beginning or
 * end of it.
 */
function isHostInner(unit: number): boolean {
  return unit === 0x2d || unit === 0x2e || unit === 0x5f || unit === 0x2b;
}
