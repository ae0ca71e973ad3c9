import { hasPhrase, wordsOf } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { factsOf } from './items.js';
import type { Facts } from './items.js';

/** The words of a search have at most this many characters. Operators, parentheses and qualifiers do not count. */
const MAX_CHARACTERS = 256;
const MAX_OPERATORS = 5;
const OPERATORS = new Set(['AND', 'OR', 'NOT']);
const PLACES = new Set(['repo', 'org', 'user']);

type Test = (facts: Facts) => boolean;

/** A search as GitHub reads it. */
export interface GithubQuery {
  matches(post: SimPost): boolean;
  /** Repositories and accounts to which the search is limited: `repo:owner/name`, `org:name`, `user:name`. */
  places: readonly string[];
  /** True if the query contains `is:issue`, `is:pr` or a similar qualifier. */
  namesKind: boolean;
  /** The value of `sort:`, for example `created-desc`. */
  sort: string | undefined;
  /** The reason why GitHub would refuse the search; undefined if it is valid. */
  fault: string | undefined;
}

/**
 * Reads a query. The search of issues (`advanced`) accepts `AND`, `OR`, `NOT` and parentheses for words and qualifiers.
 * The other searches (`plain`) accept the operators only between words, ignore parentheses, and combine several places
 * (`repo:`, `org:`, `user:`) with OR.
 */
export function githubQuery(q: string, syntax: 'advanced' | 'plain'): GithubQuery {
  const tokens = q.match(/-?(?:[a-z]+:)?"[^"]*"?|[()]|[^\s()"]+/gi) ?? [];
  const qualifiers = tokens.map(qualifierOf).filter((one) => one !== undefined);
  const valuesOf = (...keys: string[]) =>
    qualifiers.filter(({ key }) => keys.includes(key)).map(({ value }) => value);
  const fields = valuesOf('in').flatMap((value) => value.split(','));
  const test = syntax === 'advanced' ? new Parser(tokens, fields).parse() : plainTest(tokens, fields);
  const kinds = valuesOf('is', 'type').filter((value) => ['issue', 'pr', 'pull-request'].includes(value));
  return {
    matches: (post) => test(factsOf(post)),
    places: tokens.filter(isPlace).map((token) => token.replaceAll('"', '').toLowerCase()),
    namesKind: kinds.length > 0,
    sort: valuesOf('sort').at(-1),
    fault: faultOf(tokens),
  };
}

function faultOf(tokens: readonly string[]): string | undefined {
  const words = tokens.filter(
    (token) => !OPERATORS.has(token) && !/^[()]$/.test(token) && !qualifierOf(token),
  );
  if (words.join(' ').length > MAX_CHARACTERS) return 'The search is longer than 256 characters.';
  if (tokens.filter((token) => OPERATORS.has(token)).length > MAX_OPERATORS)
    return 'More than five AND / OR / NOT operators were used.';
  return undefined;
}

/** AND binds more strongly than OR; terms next to each other are combined with AND. */
class Parser {
  private at = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly fields: readonly string[],
  ) {}

  parse(): Test {
    const tests: Test[] = [];
    while (this.at < this.tokens.length) {
      tests.push(this.alternatives());
      if (this.tokens[this.at] === ')') this.at += 1;
    }
    return allOf(tests);
  }

  private alternatives(): Test {
    const tests = [this.sequence()];
    while (this.tokens[this.at] === 'OR') {
      this.at += 1;
      tests.push(this.sequence());
    }
    return anyOf(tests);
  }

  private sequence(): Test {
    const tests: Test[] = [];
    for (
      let token = this.tokens[this.at];
      token !== undefined && token !== ')' && token !== 'OR';
      token = this.tokens[this.at]
    ) {
      this.at += 1;
      if (token !== 'AND') tests.push(this.single(token));
    }
    return allOf(tests);
  }

  private single(token: string): Test {
    if (token === 'NOT') {
      const next = this.tokens[this.at] ?? '';
      this.at += 1;
      return not(this.single(next));
    }
    if (token !== '(') return termTest(token, this.fields);
    const inner = this.alternatives();
    if (this.tokens[this.at] === ')') this.at += 1;
    return inner;
  }
}

function plainTest(tokens: readonly string[], fields: readonly string[]): Test {
  const isQualifier = (token: string) => qualifierOf(token) !== undefined;
  const term = (token: string) => termTest(token, fields);
  const words = tokens.filter((token) => !isQualifier(token) && !/^[()]$/.test(token));
  const places = tokens.filter(isPlace).map(term);
  return allOf([
    new Parser(words, fields).parse(),
    ...tokens.filter((token) => isQualifier(token) && !isPlace(token)).map(term),
    ...(places.length > 0 ? [anyOf(places)] : []),
  ]);
}

interface Qualifier {
  key: string;
  value: string;
}

const KEYS = new Set(
  'is type in repo org user author created updated pushed language label sort state topic'.split(' '),
);

function qualifierOf(token: string): Qualifier | undefined {
  const [, key = '', value = ''] = /^-?([a-z]+):(.*)$/is.exec(token) ?? [];
  if (!KEYS.has(key.toLowerCase())) return undefined;
  return { key: key.toLowerCase(), value: value.replaceAll('"', '').toLowerCase() };
}

/** Returns true for `repo:`, `org:` and `user:`, unless the qualifier excludes the place (`-repo:`). */
function isPlace(token: string): boolean {
  return PLACES.has(qualifierOf(token)?.key ?? '') && !token.startsWith('-');
}

function termTest(token: string, fields: readonly string[]): Test {
  const qualifier = qualifierOf(token);
  if (token.startsWith('-') && token.length > 1) return not(termTest(token.slice(1), fields));
  return qualifier ? qualifierTest(qualifier) : wordTest(token.replaceAll('"', ''), fields);
}

function wordTest(text: string, fields: readonly string[]): Test {
  const words = wordsOf(text);
  if (words.length === 0) return () => true;
  return ({ texts }) =>
    Object.entries(texts).some(
      ([name, own]) => (fields.length === 0 || fields.includes(name)) && hasPhrase(own, words),
    );
}

function qualifierTest({ key, value }: Qualifier): Test {
  switch (key) {
    case 'is':
    case 'type':
    case 'state':
      return (facts) => facts.is.has(value);
    case 'repo':
      return (facts) => facts.repository.toLowerCase() === value;
    case 'org':
    case 'user':
      return (facts) => facts.repository.toLowerCase().startsWith(`${value}/`);
    case 'author':
      return (facts) => facts.login.toLowerCase() === value;
    case 'language':
      return (facts) => facts.language.toLowerCase() === value;
    case 'label':
      return (facts) => facts.labels.includes(value);
    case 'topic':
      return (facts) => facts.topics.includes(value);
    case 'created':
    case 'updated':
    case 'pushed': {
      const isIn = timeTest(value);
      return ({ createdAt }) => isIn(createdAt);
    }
    default:
      // `in:` and `sort:` are not conditions.
      return () => true;
  }
}

/**
 * Reads a condition of time: `2026-03-01`, `>=2026-03-01T12:00:00Z` (also `>`, `<`, `<=`), or a range such as
 * `2026-03-01..2026-03-05` or `2026-03-01..*`.
 */
function timeTest(value: string): (at: number) => boolean {
  const range = /^(.+)\.\.(.+)$/.exec(value);
  if (range) {
    const [from, until] = [startOf(range[1] ?? ''), endOf(range[2] ?? '')];
    return (at) => at >= (from ?? -Infinity) && at < (until ?? Infinity);
  }
  const [, sign = '', time = ''] = /^([<>]=?)?(.*)$/.exec(value) ?? [];
  const [start, end] = [startOf(time), endOf(time)];
  if (start === undefined || end === undefined) return () => false;
  switch (sign) {
    case '>=':
      return (at) => at >= start;
    case '>':
      return (at) => at >= end;
    case '<':
      return (at) => at < start;
    case '<=':
      return (at) => at < end;
    default:
      return (at) => at >= start && at < end;
  }
}

function startOf(time: string): number | undefined {
  const at = Date.parse(time.toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}

/** Returns the end of a date, which covers its whole day, or of a time, which covers its second. */
function endOf(time: string): number | undefined {
  const start = startOf(time);
  if (start === undefined) return undefined;
  return start + (/^\d{4}-\d\d-\d\d$/.test(time) ? 86_400_000 : 1000);
}

function allOf(tests: readonly Test[]): Test {
  return (facts) => tests.every((test) => test(facts));
}

function anyOf(tests: readonly Test[]): Test {
  return (facts) => tests.some((test) => test(facts));
}

function not(test: Test): Test {
  return (facts) => !test(facts);
}
