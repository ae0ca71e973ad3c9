import { hasPhrase, wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { isVerifiedHandle } from './accounts.js';
import { addresseeOf, addressesOf, attachmentOf, quotedIdOf, tweetTextOf } from './text.js';

type Test = (post: SimPost) => boolean;

/** A part of a query. `standsAlone`: X accepts it as the only part. */
interface Clause {
  test: Test;
  standsAlone: boolean;
}

/** The test of a query, or X's error message. */
export type Query = { matches: Test } | { refusal: string };

class Unreadable extends Error {}

/**
 * Reads a query. Accepts the part of X's query language that clients use: words, `"phrases"`, `OR`, `-`,
 * parentheses, `#tag`, `@name`, `$TAG`, `from:`, `to:`, `lang:`, `has:`, `is:`, `url:` and `conversation_id:`. A space
 * means AND, which binds more strongly than OR.
 */
export function xQuery(query: string): Query {
  const tokens = [...query.matchAll(/-?(?:\w+:)?"[^"]*"|-?\(|\)|[^\s()]+/g)];
  try {
    const { test, standsAlone } = new Parser(tokens).parse();
    if (!standsAlone) {
      throw new Unreadable('Rules must contain at least one positive, non-stopword clause (at position 1)');
    }
    return { matches: test };
  } catch (error) {
    if (error instanceof Unreadable)
      return { refusal: `There were errors processing your request: ${error.message}` };
    throw error;
  }
}

class Parser {
  private at = 0;

  constructor(private readonly tokens: readonly RegExpMatchArray[]) {}

  parse(): Clause {
    const whole = this.alternatives();
    if (this.token === ')') throw this.fault("no viable alternative at input ')'");
    return whole;
  }

  /** Sequences that are joined by OR. */
  private alternatives(): Clause {
    const clauses = [this.sequence()];
    while (this.token === 'OR') {
      this.at += 1;
      clauses.push(this.sequence());
    }
    return {
      test: (post) => clauses.some(({ test }) => test(post)),
      standsAlone: clauses.every(({ standsAlone }) => standsAlone),
    };
  }

  private sequence(): Clause {
    const clauses: Clause[] = [];
    while (this.token !== undefined && this.token !== ')' && this.token !== 'OR') clauses.push(this.single());
    if (clauses.length === 0) throw this.fault(`no viable alternative at input '${this.token ?? '<EOF>'}'`);
    return {
      test: (post) => clauses.every(({ test }) => test(post)),
      standsAlone: clauses.some(({ standsAlone }) => standsAlone),
    };
  }

  private single(): Clause {
    const written = this.token ?? '';
    const excluded = written.startsWith('-') && written.length > 1;
    const token = excluded ? written.slice(1) : written;
    if (token === '(') {
      this.at += 1;
      const inner = this.alternatives();
      if (this.token !== ')') throw this.fault("missing ')' at '<EOF>'");
      this.at += 1;
      return excluded ? negated(inner) : inner;
    }
    const clause = this.term(token);
    this.at += 1;
    return excluded ? negated(clause) : clause;
  }

  private term(token: string): Clause {
    if (/^and$/i.test(token) || token === 'or') {
      const word = token.toLowerCase();
      const how = word === 'or' ? 'Use OR' : 'Use a space';
      throw this.fault(
        `Ambiguous use of ${word} as a keyword. ${how} to logically join two clauses, or "${word}" to find occurrences of ${word} in text`,
      );
    }
    const [, operator, value = ''] = /^([a-z_]+):(.*)$/s.exec(token) ?? [];
    if (operator !== undefined) {
      const clause = operatorOf(operator, value.replaceAll('"', ''));
      if (!clause) throw this.fault(`Reference to invalid operator '${operator}'`);
      return clause;
    }
    const isPhrase = /^".+"$/s.test(token);
    if (!isPhrase && token.includes('"')) throw this.fault("no viable alternative at character '\"'");
    if (!isPhrase && /^[#$@]/.test(token)) return alone(taggedTest(token));
    const words = wordsOf(token);
    if (words.length === 0) throw this.fault(`no viable alternative at character '${token.charAt(0)}'`);
    return alone((post) => hasPhrase(wordsOfPost(post).text, words));
  }

  private get token(): string | undefined {
    return this.tokens[this.at]?.[0];
  }

  private fault(what: string): Unreadable {
    return new Unreadable(`${what} (at position ${(this.tokens[this.at]?.index ?? 0) + 1})`);
  }
}

function negated({ test }: Clause): Clause {
  return { test: (post) => !test(post), standsAlone: false };
}

function alone(test: Test): Clause {
  return { test, standsAlone: true };
}

/**
 * Returns a function that tests whether a post has exactly this hashtag, mention or cashtag. Upper and lower case are
 * equal.
 */
function taggedTest(token: string): Test {
  const name = token.slice(1).toLowerCase();
  return (post) => {
    const { hashtags = [], cashtags = [], mentions = [] } = entitiesOf(post);
    const names =
      token.charAt(0) === '@'
        ? mentions.map(({ username }) => username)
        : (token.charAt(0) === '#' ? hashtags : cashtags).map(({ tag }) => tag);
    return names.some((each) => each.toLowerCase() === name);
  };
}

function operatorOf(operator: string, value: string): Clause | undefined {
  const same = (text: string | undefined) => text?.toLowerCase() === value.replace(/^@/, '').toLowerCase();
  switch (operator) {
    case 'from':
      return alone((post) => same(post.author));
    case 'to':
      return alone((post) => same(addresseeOf(post)));
    case 'url':
      return alone((post) => addressesOf(post).some((address) => address.includes(value)));
    case 'conversation_id':
      return alone((post) => (post.root ?? post).id === value);
    case 'lang':
      return { test: (post) => (post.lang || 'und') === value, standsAlone: false };
    case 'has':
    case 'is': {
      const test = (operator === 'has' ? HAS : IS)[value];
      return test && { test, standsAlone: false };
    }
    default:
      return undefined;
  }
}

const HAS: Record<string, Test> = {
  images: (post) => attachmentOf(post)?.type === 'photo',
  videos: (post) => attachmentOf(post)?.type === 'video',
  media: (post) => attachmentOf(post) !== undefined,
  links: (post) => addressesOf(post).length > 0,
  hashtags: (post) => entitiesOf(post).hashtags !== undefined,
  mentions: (post) => entitiesOf(post).mentions !== undefined,
  cashtags: (post) => entitiesOf(post).cashtags !== undefined,
};

const IS: Record<string, Test> = {
  // The simulator has no retweets.
  retweet: () => false,
  reply: (post) => addresseeOf(post) !== undefined,
  quote: (post) => quotedIdOf(post) !== undefined,
  verified: ({ author }) => isVerifiedHandle(author),
};

function entitiesOf(post: SimPost) {
  const { short, long } = tweetTextOf(post);
  return (long ?? short).entities ?? {};
}
