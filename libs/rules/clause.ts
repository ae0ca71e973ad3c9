import { compile, foldHandle, foldTerm, type FoundTerm } from '#matching';
import {
  agentFieldOf,
  DEFAULT_THRESHOLD,
  FIELD_KINDS,
  isField,
  type FieldKind,
  type Operator,
} from './fields.js';
import type { RuleSubject } from './subject.js';
import { isText, textFields, type TextField, type TextsOf } from './texts.js';

/** Maximum length of a text in the result of a clause, without ellipses, in UTF-16 units. */
const MAX_SHOWN_LENGTH = 120;
/** Maximum length of the text that is shown before a match, in UTF-16 units. */
const MAX_SHOWN_BEFORE = 40;
/** Maximum number of values of a list in the result of a clause; an ellipsis replaces the others. */
const MAX_SHOWN_VALUES = 10;

/**
 * How similar a field of the item and a text are in meaning, as the cosine of their vectors (-1 to 1); undefined if
 * one of them has no meaning that can be compared.
 */
export type Similarity = (field: TextField, text: string) => number | undefined;

/** One item, as the clauses of one set of rules read it. */
export interface ReadItem {
  subject: RuleSubject;
  /** The text terms that were found, by the number of their clause. */
  found: ReadonlyMap<number, readonly FoundTerm[]>;
  /** The texts of a field, folded. */
  textsOf: TextsOf;
  similarity: Similarity;
  /** A cache of the item's values as JSON, by field: many clauses read the same field. */
  shown: Map<string, string>;
}

/** The result of a clause. */
export interface Seen {
  holds: boolean;
  /**
   * The item's value in the field, as JSON; empty if it has none. For a term that was found in a text: the part of the
   * text around the term; for `similar_to`, the similarity.
   */
  seenJson: string;
}

/** A compiled clause. `check` never throws, whatever the item contains. */
export interface CompiledClause {
  field: string;
  op: string;
  /** JSON; empty without a value. */
  valueJson: string;
  check(item: ReadItem): Seen;
  /** A term that the caller searches for in the title and the body before it calls `check`. */
  term?: { mode: 'word' | 'contains'; value: string };
  /** The arguments with which `check` calls `similarity`. */
  similarTo?: { field: TextField; text: string };
}

/** A stored clause. The gateway has checked that it is valid. */
export interface StoredClause {
  field: string;
  op: string;
  value?: unknown;
}

/** Compiles a stored clause. @param number unique among the clauses that are checked together */
export function compileClause({ field, op, value }: StoredClause, number: number): CompiledClause {
  const clause = { field, op, valueJson: shownJson(value) };
  if (isText(field)) return { ...clause, ...textClause(field, op, value, number) };
  const kind = isField(field) ? FIELD_KINDS[field] : undefined;
  const read = readerOf(field);
  const test = testOf(op as Operator, value, kind);
  return {
    ...clause,
    check(item) {
      const values = read(item.subject);
      const seenJson = shownOnce(item, field, () => (values.length > 1 ? values : values[0]));
      return { holds: test(values), seenJson };
    },
  };
}

/** Returns the value as JSON, short enough for an event; empty for undefined and null. */
export function shownJson(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object' && !Array.isArray(value)) {
    const { text, threshold } = value as { text?: unknown; threshold?: unknown };
    return JSON.stringify({ text: shown(text), threshold });
  }
  return JSON.stringify(shown(value));
}

/** Returns the item's value in a field as JSON. It is computed when the first clause needs it. */
function shownOnce({ shown: known }: ReadItem, field: string, read: () => unknown): string {
  let json = known.get(field);
  if (json === undefined) known.set(field, (json = seenJsonOf(shown(read()))));
  return json;
}

function seenJsonOf(seen: unknown): string {
  return seen === undefined ? '' : JSON.stringify(seen);
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, 0);
  if (!Array.isArray(value)) return value;
  const first = value.slice(0, MAX_SHOWN_VALUES).map(shown);
  return value.length > first.length ? [...first, '…'] : first;
}

/** Returns a part of the text, with an ellipsis where something is missing. */
function cut(text: string, from: number): string {
  const start = Math.max(0, from - MAX_SHOWN_BEFORE);
  if (start === 0 && text.length <= MAX_SHOWN_LENGTH) return text;
  const part = text.slice(start, start + MAX_SHOWN_LENGTH).toWellFormed();
  return `${start > 0 ? '…' : ''}${part}${start + MAX_SHOWN_LENGTH < text.length ? '…' : ''}`;
}

function textClause(
  field: TextField,
  op: string,
  value: unknown,
  number: number,
): Pick<CompiledClause, 'check' | 'term' | 'similarTo'> {
  const beginning = (item: ReadItem) =>
    shownOnce(item, field, () =>
      textFields(field)
        .map((name) => item.subject[name])
        .find((text) => text !== ''),
    );
  switch (op) {
    case 'similar_to': {
      const { text, threshold = DEFAULT_THRESHOLD } =
        typeof value === 'string' ? { text: value } : (value as { text: string; threshold?: number });
      return {
        similarTo: { field, text },
        check({ similarity }) {
          const found = similarity(field, text);
          if (found === undefined) return { holds: false, seenJson: '' };
          const rounded = Math.round(found * 1000) / 1000;
          return { holds: rounded >= threshold, seenJson: seenJsonOf(rounded) };
        },
      };
    }
    case 'contains':
    case 'not_contains':
    case 'word': {
      const term = { mode: op === 'word' ? 'word' : 'contains', value: String(value) } as const;
      return {
        term,
        check(item) {
          const place = item.found
            .get(number)
            ?.find(({ field: at }) => field === 'text' || (at === 'title') === (field === 'title'));
          const holds = (place !== undefined) !== (op === 'not_contains');
          if (!place) return { holds, seenJson: beginning(item) };
          const text = place.field === 'title' ? item.subject.title : item.subject.body;
          return { holds, seenJson: seenJsonOf(cut(text, place.start)) };
        },
      };
    }
    default: {
      const test = testOf(op as Operator, value, 'text');
      return {
        check(item) {
          return { holds: test(item.textsOf(field)), seenJson: beginning(item) };
        },
      };
    }
  }
}

type Value = string | number | boolean;

const MAX_FOLDED = 2_000;
/**
 * Texts that are longer than this are not cached. They are not names, and would fill the memory: a feed can have
 * addresses of 64 KiB.
 */
const MAX_NAME_LENGTH = 200;
const cachedFoldTerm = cached(foldTerm);
const cachedFoldHandle = cached(foldHandle);

/** Caches folded names, because the same names occur in many clauses and items. */
function cached(fold: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    if (name.length > MAX_NAME_LENGTH) return fold(name);
    let folded = known.get(name);
    if (folded !== undefined) return folded;
    folded = fold(name);
    if (known.size >= MAX_FOLDED) known.clear();
    known.set(name, folded);
    return folded;
  };
}

/** Reads the values of a field; none if the item has no value. */
function readerOf(field: string): (subject: RuleSubject) => readonly Value[] {
  const name = agentFieldOf(field);
  if (name !== undefined)
    return ({ ai }) => {
      const value = ai !== null && Object.hasOwn(ai, name) ? ai[name] : undefined;
      return isValue(value) && value !== '' ? [value] : [];
    };
  return (subject) => {
    const value = (subject as unknown as Record<string, unknown>)[field];
    if (Array.isArray(value)) return value as Value[];
    return isValue(value) && value !== '' ? [value] : [];
  };
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Returns a test of the values of a field. `neq` and `not_contains` are the negation of `eq` and `contains`. */
function testOf(
  op: Operator,
  value: unknown,
  kind: FieldKind | undefined,
): (values: readonly Value[]) => boolean {
  const fold = kind === 'handle' ? cachedFoldHandle : kind === 'text' ? foldTerm : cachedFoldTerm;
  const any = (test: (one: Value) => boolean) => (values: readonly Value[]) => values.some(test);
  const not = (test: (values: readonly Value[]) => boolean) => (values: readonly Value[]) => !test(values);
  switch (op) {
    case 'exists':
      return value === false ? (values) => values.length === 0 : (values) => values.length > 0;
    case 'eq':
      return any(equals(value, fold));
    case 'neq':
      return not(any(equals(value, fold)));
    case 'in': {
      const wanted = new Set((value as string[]).map(fold));
      const numbers = new Set((value as string[]).map(Number));
      return any((one) => (typeof one === 'number' ? numbers.has(one) : wanted.has(fold(String(one)))));
    }
    case 'contains':
      return any(includes(value, fold));
    case 'not_contains':
      return not(any(includes(value, fold)));
    case 'word':
      return any(hasWord(value, kind));
    case 'lt':
      return any((one) => typeof one === 'number' && one < Number(value));
    case 'lte':
      return any((one) => typeof one === 'number' && one <= Number(value));
    case 'gt':
      return any((one) => typeof one === 'number' && one > Number(value));
    case 'gte':
      return any((one) => typeof one === 'number' && one >= Number(value));
    case 'similar_to':
      return () => false;
  }
}

function equals(value: unknown, fold: (text: string) => string): (one: Value) => boolean {
  if (typeof value !== 'string') return (one) => one === value;
  const wanted = fold(value);
  return (one) => typeof one === 'string' && fold(one) === wanted;
}

function includes(value: unknown, fold: (text: string) => string): (one: Value) => boolean {
  const wanted = fold(String(value));
  return (one) => wanted !== '' && typeof one === 'string' && fold(one).includes(wanted);
}

/**
 * Returns a test of whether a text contains the value as whole words. In a URL, everything except letters and digits
 * separates words.
 */
function hasWord(value: unknown, kind: FieldKind | undefined): (one: Value) => boolean {
  const read = kind === 'address' ? wordsOfUrl : (text: string) => text;
  const term = kind === 'handle' ? foldHandle(String(value)) : read(String(value));
  if (foldTerm(term) === '') return () => false;
  const matcher = compile([{ key: '', mode: 'word', terms: [term] }]);
  // With the @, `acme.example` is read as a name and not as an address.
  const textOf = kind === 'handle' ? (name: string) => `@${foldHandle(name)}` : read;
  return (one) => typeof one === 'string' && matcher.match({ title: '', text: textOf(one) }).length > 0;
}

function wordsOfUrl(url: string): string {
  return url.replace(/[^\p{L}\p{N}]+/gu, ' ');
}
