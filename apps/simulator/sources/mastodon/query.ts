import { hasPhrase, wordsOf } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { accountOf, HOME, isSearchable, linksOf, textOf } from './statuses.js';

const PREFIXES = new Set(['from', 'before', 'after', 'during', 'language', 'has', 'is', 'in']);
const DAY_MS = 86_400_000;

type Test = (post: SimPost) => boolean;

/**
 * Returns a function that tests whether a full-text search finds a post. A search finds only posts whose authors allow
 * searches. A search consists of words, which match by their stems, `"phrases"`, `-` to exclude, and the documented
 * operators. All parts must match; OR is an ordinary word.
 */
export function statusTest(q: string): Test {
  const tests = [...q.matchAll(/([+-]?)(?:(\w+):)?(?:"([^"]*)"?|([^\s"]+))/g)].map(
    ([, sign = '', prefix = '', phrase, word = '']) => {
      const test = PREFIXES.has(prefix.toLowerCase())
        ? operatorTest(prefix.toLowerCase(), phrase ?? word)
        : textTest(`${prefix} ${phrase ?? word}`, phrase !== undefined);
      return sign === '-' ? (post: SimPost) => !test(post) : test;
    },
  );
  return (post) => isSearchable(post) && tests.every((test) => test(post));
}

const known = new WeakMap<SimPost, { text: string; words: string[]; stems: Set<string> }>();

function wordsIn(post: SimPost): { words: string[]; stems: Set<string> } {
  const text = textOf(post);
  const kept = known.get(post);
  if (kept?.text === text) return kept;
  const words = wordsOf(text);
  const fresh = { text, words, stems: new Set(words.map(stemOf)) };
  known.set(post, fresh);
  return fresh;
}

function textTest(text: string, isPhrase: boolean): Test {
  const wanted = wordsOf(text);
  if (wanted.length === 0) return () => true;
  if (isPhrase) return (post) => hasPhrase(wordsIn(post).words, wanted);
  return (post) => {
    const { stems } = wordsIn(post);
    return wanted.every((word) => stems.has(stemOf(word)));
  };
}

/** Returns an approximation of the stem that an English word shares with its other forms. */
function stemOf(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word.replace(/(?<=\w\w)s$/, '');
}

function operatorTest(operator: string, value: string): Test {
  const day = Date.parse(value);
  switch (operator) {
    case 'from': {
      const [name = '', host = HOME] = value.replace(/^@/, '').split('@');
      return (post) => {
        const account = accountOf(post);
        return account.name.toLowerCase() === name.toLowerCase() && account.host === host;
      };
    }
    case 'before':
      return ({ publishedAt }) => publishedAt < day;
    case 'after':
      return ({ publishedAt }) => publishedAt >= day + DAY_MS;
    case 'during':
      return ({ publishedAt }) => publishedAt >= day && publishedAt < day + DAY_MS;
    case 'language':
      return ({ lang }) => lang === value.toLowerCase();
    case 'has':
      return (post) => (value === 'link' || value === 'embed') && linksOf(post).length > 0;
    case 'is':
      return (post) => value === 'reply' && post.parent !== undefined;
    default:
      // `in:library` means the posts that the signed-in account has written or reacted to. The simulator has none.
      return () => value !== 'library';
  }
}
