import { hasPhrase, wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';

type Test = (post: SimPost) => boolean;

/**
 * Returns a function that tests whether a search finds a post. Accepts the part of Reddit's search language that
 * clients use: words and `"phrases"`, `OR`, `AND`, `NOT`, `-`, parentheses, and `title:`, `selftext:`, `author:`,
 * `subreddit:`, `url:`. Without `OR`, a post must contain all words and phrases. Operators must be in upper case and
 * field names in lower case. The case of other letters does not matter, except in `url:`.
 */
export function redditQuery(query: string): Test {
  const tokens = query.match(/-?(?:\w+:)?"[^"]*"?|[()]|[^\s()"]+/g) ?? [];
  return new Parser(tokens).parse();
}

class Parser {
  private at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  parse(): Test {
    const tests: Test[] = [];
    while (this.at < this.tokens.length) {
      tests.push(this.alternatives());
      // A closing parenthesis without an opening parenthesis ends the alternatives before it.
      if (this.tokens[this.at] === ')') this.at += 1;
    }
    return (post) => tests.every((test) => test(post));
  }

  /** Terms next to each other bind more strongly than OR. */
  private alternatives(): Test {
    const tests = [this.sequence()];
    while (this.tokens[this.at] === 'OR') {
      this.at += 1;
      tests.push(this.sequence());
    }
    return (post) => tests.some((test) => test(post));
  }

  private sequence(): Test {
    const tests: Test[] = [];
    for (
      let token = this.tokens[this.at];
      token && token !== ')' && token !== 'OR';
      token = this.tokens[this.at]
    ) {
      this.at += 1;
      if (token !== 'AND') tests.push(this.single(token));
    }
    return (post) => tests.every((test) => test(post));
  }

  private single(token: string): Test {
    if (token === 'NOT') {
      const next = this.tokens[this.at] ?? '';
      this.at += 1;
      const test = this.single(next);
      return (post) => !test(post);
    }
    if (token === '(') {
      const inner = this.alternatives();
      if (this.tokens[this.at] === ')') this.at += 1;
      return inner;
    }
    if (token.startsWith('-') && token.length > 1) {
      const test = termTest(token.slice(1));
      return (post) => !test(post);
    }
    return termTest(token);
  }
}

function termTest(token: string): Test {
  const [, field = '', value = ''] = /^(?:(title|selftext|author|subreddit|url):)?(.*)$/s.exec(token) ?? [];
  const plain = value.replaceAll('"', '');
  const words = wordsOf(plain);
  switch (field) {
    case 'title':
      return (post) => hasPhrase(wordsOfPost(post).title, words);
    case 'selftext':
      return (post) => hasPhrase(wordsOfPost(post).text, words);
    case 'author':
      return (post) => post.author.toLowerCase() === plain.toLowerCase();
    case 'subreddit':
      return (post) => post.community.toLowerCase() === plain.toLowerCase();
    case 'url':
      return (post) => post.link.includes(plain);
    default:
      return (post) =>
        words.length === 0 ||
        hasPhrase(wordsOfPost(post).title, words) ||
        hasPhrase(wordsOfPost(post).text, words);
  }
}
