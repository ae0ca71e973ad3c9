import type { BucketPreset, Item } from '#contracts';
import { beginningOf } from './beginning-of.js';
import { lowerCase, withoutDots } from './lower-case.js';

/** What a local bucket depends on. */
export interface BucketInput {
  item: Pick<Item, 'source' | 'title' | 'text' | 'author' | 'authorName' | 'community' | 'bodyJson'>;
  /** Empty if the value was not read. */
  sentiment: string;
  /** The name of the keyword, and the keyword's terms. */
  names: readonly string[];
  story: { storyId: string; isRepeated: boolean } | undefined;
}

/** A bucket that the rules found. If the keyword already has a bucket with this key, the existing label is kept. */
export interface FoundBucket {
  key: string;
  label: string;
}

/**
 * Finds the bucket of an item by rules, without a language model. Returns undefined if the item belongs to no bucket,
 * and for `custom`, which needs a model.
 */
export function localBucket(preset: BucketPreset, input: BucketInput): FoundBucket | undefined {
  switch (preset) {
    case 'product-model':
      return productModel(input);
    case 'theme-sentiment':
      return themeSentiment(input);
    case 'seller':
      return seller(input);
    case 'duplicates':
      return duplicate(input);
    case 'custom':
      return undefined;
  }
}

/**
 * Returns the key of a bucket's name: lower-case words and numbers, joined by `-`, at most 80 characters. Case and
 * accents make no difference; spaces and punctuation only separate words. A number after a letter begins a new word:
 * "iPhone 15 pro" and "iphone15 Pro" have the key `iphone-15-pro`.
 */
export function bucketKey(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/(\p{L})(?=\p{N})/gu, '$1 ');
  return beginningOf((plain.match(/[\p{L}\p{N}]+/gu) ?? []).join('-'), 80);
}

/**
 * Words that belong to the name of a product model if they follow the model's number: in lower case, in upper case, or
 * capitalized.
 */
const VARIANTS =
  'pro max plus ultra mini air se lite xl fe fold flip ti super gen edition gt rs touring sport'
    .split(' ')
    .flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
    .join('|');
/**
 * Matches the name of a product model: up to two words with a capital letter, a token with a number, and up to three
 * words of `VARIANTS`.
 */
const MODEL = new RegExp(
  String.raw`((?:(?:\p{Lu}|[a-z]\p{Lu})\p{L}{0,20} ){0,2})(\p{L}{0,12}-?\d{1,4}\p{L}{0,3})((?: (?:${VARIANTS})\b){0,3})`,
  'gu',
);
/**
 * Matches the part of a product model's name that follows the name of the subject: ` S24 Ultra`, ` Note 5`, `15 Pro`.
 */
const REST_OF_MODEL = new RegExp(
  String.raw`^(?:[ -]\p{Lu}\p{L}{1,15}){0,2}[ -]?(?:\p{L}{0,4}-?\d{1,4}\p{L}{0,3})(?![.,:]?\d)(?: (?:${VARIANTS})\b){0,3}`,
  'u',
);
const CHARACTERS_READ = 4_000;

function productModel({ item, names: given }: BucketInput): FoundBucket | undefined {
  const read = withoutDots(`${item.title}\n${item.text}`.slice(0, CHARACTERS_READ));
  const text = read.replace(/https?:\/\/\S+/g, ' ');
  const names = given.map(withoutDots);
  const subjects = names.flatMap((name) => bucketKey(name).split('-')).filter((word) => word.length > 2);
  for (const name of names)
    for (const at of positionsOf(text, name)) {
      const after = text.slice(at, at + name.length + 60);
      const model = modelIn(after, name);
      if (model) return { key: bucketKey(model), label: model };
    }
  for (const match of text.matchAll(MODEL)) {
    const [whole = '', before = ''] = match;
    const isOfSubject = subjects.some((word) => bucketKey(before).split('-').includes(word));
    if (isOfSubject) return { key: bucketKey(whole), label: whole.trim() };
  }
  return undefined;
}

/** Returns the positions of a name in a text. Case makes no difference. */
function positionsOf(text: string, name: string): number[] {
  const [haystack, needle] = [lowerCase(text), lowerCase(name)];
  const positions: number[] = [];
  if (name.trim() === '') return positions;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + needle.length))
    positions.push(at);
  return positions;
}

/**
 * Returns the name of the product model at the start of a text, for example of `Galaxy S24 Ultra is …`. The text must
 * begin with the name of the subject.
 */
function modelIn(text: string, name: string): string | undefined {
  const rest = text.slice(name.length);
  const model = REST_OF_MODEL.exec(rest)?.[0];
  return model === undefined
    ? undefined
    : `${text.slice(0, name.length)}${model}`.replace(/\s+/g, ' ').trim();
}

/**
 * Themes that people write about, and the words of each theme. The first theme that has a word in the text is chosen.
 */
const THEMES: readonly { key: string; label: string; words: RegExp }[] = [
  {
    key: 'price',
    label: 'Price',
    words:
      /\b(pric(?:e[sd]?|ey|ing)|cost(?:s|ly)?|expensive|cheap(?:er)?|subscription|refunds?|discounts?|overpriced|afford\w*)\b/i,
  },
  {
    key: 'support',
    label: 'Support',
    words:
      /\b(support (?:team|ticket|agent|staff)|customer (?:service|support|care)|help ?desk|ticket|no (?:reply|response|answer))\b/i,
  },
  {
    key: 'reliability',
    label: 'Reliability',
    words:
      /\b(outages?|down(?:time)?|crash(?:es|ed|ing)?|bugs?|buggy|broken|unstable|errors?|fail(?:s|ed|ing|ure)?|lost (?:my|data))\b/i,
  },
  {
    key: 'performance',
    label: 'Performance',
    words: /\b(slow(?:er)?|fast(?:er)?|lag(?:s|gy)?|latency|performance|memory|battery|speed)\b/i,
  },
  {
    key: 'usability',
    label: 'Usability',
    words: /\b(eas(?:y|ier) to|hard to use|confusing|intuitive|ui|ux|interface|user[- ]friendly|clunky)\b/i,
  },
  {
    key: 'documentation',
    label: 'Documentation',
    words: /\b(docs?|documentation|tutorials?|readme|examples?|guides?)\b/i,
  },
  {
    key: 'security',
    label: 'Security and privacy',
    words:
      /\b(secur(?:e|ity)|privacy|breach(?:es|ed)?|leak(?:s|ed)?|vulnerabilit(?:y|ies)|cve-\d+|hacked|tracking)\b/i,
  },
  {
    key: 'delivery',
    label: 'Delivery',
    words: /\b(shipping|shipped|delivery|delivered|arrived?|courier|parcel|package (?:is|was|has))\b/i,
  },
  {
    key: 'quality',
    label: 'Quality',
    words: /\b(quality|durable|well[- ]made|poorly made|defect(?:s|ive)?|fell apart|material)\b/i,
  },
  {
    key: 'design',
    label: 'Design',
    words: /\b(design|looks? (?:great|good|ugly|bad)|style|colou?rs?|beautiful|ugly)\b/i,
  },
  {
    key: 'features',
    label: 'Features',
    words: /\b(features?|integrations?|plugins?|api|missing|would love|wish it)\b/i,
  },
];

function themeSentiment({ item, sentiment }: BucketInput): FoundBucket | undefined {
  if (sentiment === '') return undefined;
  const text = `${item.title}\n${item.text}`.slice(0, CHARACTERS_READ);
  const theme = THEMES.find(({ words }) => words.test(text));
  return theme && { key: `${theme.key}-${sentiment}`, label: `${theme.label}: ${sentiment}` };
}

/** Returns a bucket for the seller on vinted, and for the author on other sources. */
function seller({ item }: BucketInput): FoundBucket | undefined {
  const handle = item.author ?? item.authorName;
  if (handle === undefined || bucketKey(handle) === '') return undefined;
  return { key: `${item.source}-${bucketKey(handle)}`, label: item.authorName ?? handle };
}

/**
 * Returns a bucket only for the second and later items of a story, so that an item without duplicates costs nothing.
 */
function duplicate({ item, story }: BucketInput): FoundBucket | undefined {
  if (!story?.isRepeated) return undefined;
  const label = beginningOf((item.title || item.text).replace(/\s+/g, ' ').trim(), 80);
  return { key: story.storyId, label };
}
