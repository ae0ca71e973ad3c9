import { hash } from 'node:crypto';
import normalizeUrl from 'normalize-url';
import type { Item } from '#contracts';

/** Texts with fewer words are too common to identify a story. */
const MIN_WORDS = 5;
/** Longer texts are compared by their beginning. */
const MAX_WORDS = 400;
/** Number of words of one shingle. A shingle is a sequence of neighbouring words. */
const SHINGLE_WORDS = 3;
/**
 * MinHash with 5 bands of 6 rows (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, 3.4): two texts share a band
 * with a probability of 0.98 if 90 % of their shingles are equal, 0.78 for 80 %, and 0.08 for 50 %.
 */
const BANDS = 5;
const ROWS = 6;

/** Comments and answers do not belong to a story, but often contain the story's link or quote the story. */
const REPLIES: ReadonlySet<string> = new Set(['comment', 'answer', 'reply']);

/**
 * Returns the keys by which an item's story is found, computed from the item's canonical links and text. Items that
 * share a key belong to the same story. Empty for replies, for answers of AI engines, and for items with neither a link
 * nor enough text.
 */
export function storyKeys(
  item: Pick<Item, 'kind' | 'source' | 'url' | 'title' | 'text' | 'media' | 'titleOfParent'>,
): string[] {
  if (REPLIES.has(item.kind) || item.titleOfParent || item.source === 'ai_answers') return [];
  const links = item.media.filter(({ type }) => type === 'link').map(({ url }) => url);
  const own = item.source === 'rss' ? [item.url] : [];
  const addresses = [...own, ...links].flatMap((url) => canonicalUrl(url) ?? []);
  const texts = [item.title, `${item.title} ${item.text}`].flatMap(textKeys);
  return [...new Set([...addresses.map((address) => key('link', address)), ...texts])];
}

/**
 * Returns the URL with sorted parameters, and without the parts that usually do not change the page: scheme, `www`,
 * `m`, `amp`, `mobile`, tracking parameters and fragment. Undefined for the home page of a site, and for an invalid
 * URL.
 */
export function canonicalUrl(url: string): string | undefined {
  try {
    const canonical = normalizeUrl(url, {
      stripProtocol: true,
      stripWWW: true,
      stripHash: true,
      removeQueryParameters: [
        /^utm_\w+/i,
        /^(fbclid|gclid|igshid|mc_cid|mc_eid|ref|ref_src|cmpid|source|si)$/i,
      ],
    }).replace(/^(m|amp|mobile)\./, '');
    // The home page of a site is not a story.
    return canonical.includes('/') || canonical.includes('?') ? canonical : undefined;
  } catch {
    return undefined;
  }
}

function textKeys(text: string): string[] {
  const words = wordsOf(text);
  if (words.length < MIN_WORDS) return [];
  const hashes = shingleHashes(words);
  const lowest = Array.from({ length: BANDS * ROWS }, (_, n) => minimum(hashes, n));
  return Array.from({ length: BANDS }, (_, band) =>
    key(`text ${band}`, lowest.slice(band * ROWS, (band + 1) * ROWS).join()),
  );
}

/** Returns the words of a text in lower case, without links, handles, hashtags and punctuation. */
function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/https?:\/\/\S+/g, ' ')
    .replace(/(^|\s)[@#]\w+/g, ' ');
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS);
}

/** Returns two numbers of 32 bits for each shingle, one after the other. */
function shingleHashes(words: readonly string[]): Uint32Array {
  const count = words.length - SHINGLE_WORDS + 1;
  const hashes = new Uint32Array(2 * count);
  for (let at = 0; at < count; at += 1) {
    const digest = hash('md5', words.slice(at, at + SHINGLE_WORDS).join(' '), 'buffer');
    hashes[2 * at] = digest.readUInt32LE(0);
    hashes[2 * at + 1] = digest.readUInt32LE(4);
  }
  return hashes;
}

/**
 * Returns the lowest value of hash function n (from 0) over all shingles. All functions are computed from the two
 * numbers of a shingle: a + (n + 1) × b (Kirsch, Mitzenmacher).
 */
function minimum(hashes: Uint32Array, n: number): number {
  let lowest = Infinity;
  for (let at = 0; at < hashes.length; at += 2) {
    const value = (hashes[at]! + Math.imul(n + 1, hashes[at + 1]!)) >>> 0;
    if (value < lowest) lowest = value;
  }
  return lowest;
}

function key(kind: string, value: string): string {
  return hash('sha256', `${kind} ${value}`, 'base64url').slice(0, 22);
}
