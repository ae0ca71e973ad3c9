import { SIGNALS, type SignalName } from './signal-weights.js';
import type { RelevanceSubject } from './subject.js';
import {
  AFTER_COMPANY,
  AFTER_OTHER,
  BEFORE_COMPANY,
  BEFORE_NOUN,
  COMPANY_WORDS,
  FIELDS,
  VENUE_WORDS,
} from './fields.js';
import { FIRST_NAMES, PERSON_TITLES } from './first-names.js';
import { placesOf, type Place } from '../text/names.js';

/** The text and the context from which relevance is computed. */
export interface RelevanceText {
  /** The author's words with links, in their original case. */
  plain: string;
  lower: string;
  /** The places of the subject's names in the author's words. */
  places: readonly Place[];
  /** Title of the thread, lower case; empty if the title is the author's. */
  parentTitle: string;
  /** Lower case. */
  url: string;
  /** Lower case; empty if there is none. */
  community: string;
  /**
   * True for sources about software. In these, words of `FIELDS` and a name in lower case do not show another meaning
   * of the name.
   */
  software: boolean;
}

/** A signal with its size (0 to 1) and the words that show it. */
export interface Observation {
  size: number;
  evidence: string;
}
/** The observed signals of a text. */
export type Observations = ReadonlyMap<SignalName, Observation>;

interface Word {
  text: string;
  lower: string;
  start: number;
  end: number;
}

const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}'&+.-]*[\p{L}\p{N}+])?/gu;
const CAPITAL = /^\p{Lu}/u;
/** Words before the name of a location. */
const AT_A_PLACE = /(?:^|\s)(?:at|in|to|from|inside|@) (?:the )?[#@]?$/u;
const PLACE_PREPOSITIONS: ReadonlySet<string> = new Set(['at', 'in', 'to', 'inside']);
const MAX_EVIDENCE_LENGTH = 120;
const MAX_WORDS = 600;
const MAX_OBSERVED_PLACES = 8;

/** Observes the signals in a text. */
export function observe(text: RelevanceText, subject: RelevanceSubject): Observations {
  const found = new Map<SignalName, Observation>();
  const note = (name: SignalName, size: number, evidence: string) => {
    const before = found.get(name);
    if (size > (before?.size ?? 0))
      found.set(name, { size: Math.min(1, size), evidence: shortened(evidence) });
  };
  const words = wordsOf(text.plain, text.lower);
  observeNames(text, subject, note);
  for (const place of text.places.slice(0, MAX_OBSERVED_PLACES))
    observePlace(text, subject, place, words, note);
  observeContext(text, subject, words, note);
  return found;
}

type Note = (name: SignalName, size: number, evidence: string) => void;

function observeNames(
  { lower, places, parentTitle, url }: RelevanceText,
  subject: RelevanceSubject,
  note: Note,
): void {
  const named = places.map(({ start, end }) => lower.slice(start, end));
  const plain = named.find((name) => !subject.ordinary(name));
  if (plain !== undefined) note('distinctive', 1, plain);
  if (named.length > 1) note('repeated', Math.min(1, (named.length - 1) / 3), named[0] ?? '');
  if (named.length === 0)
    if (subject.names.some((name) => parentTitle.includes(name))) note('thread', 1, '');
    else note('unnamed', 1, '');
  for (const name of subject.names) {
    const compact = name.replace(/[^\p{L}\p{N}]/gu, '');
    if (compact.length < 3) continue;
    if (domainOf(lower, compact) || domainOf(url, compact)) note('domain', 1, compact);
    if (lower.includes(`@${compact}`)) note('handle', 1, `@${compact}`);
    else if (placesOf(lower, [`$${compact}`]).length > 0) note('handle', 1, `$${compact}`);
  }
}

/** Returns true if the text contains a domain of the name: `apple.com`, `www.apple.com`, `support.apple.com`. */
function domainOf(text: string, name: string): boolean {
  for (let at = text.indexOf(`${name}.`); at >= 0; at = text.indexOf(`${name}.`, at + 1)) {
    const before = text[at - 1];
    const starts =
      before === undefined || before === '/' || before === '.' || before === ' ' || before === '@';
    if (
      starts &&
      /^(?:com|org|net|io|co|ai|app|dev|so|de|fr|uk|shop|store)(?![a-z])/.test(
        text.slice(at + name.length + 1, at + name.length + 7),
      )
    )
      return true;
  }
  return false;
}

function observePlace(
  text: RelevanceText,
  subject: RelevanceSubject,
  place: Place,
  words: readonly Word[],
  note: Note,
): void {
  const name = text.lower.slice(place.start, place.end);
  if (name.includes(' ')) return;
  const ordinary = subject.ordinary(name);
  const surface = text.plain.slice(place.start, place.end);
  const at = words.findIndex(({ end }) => end > place.start);
  const before = touching(text.plain, words[at - 1], place.start, 'before') ? words[at - 1] : undefined;
  const afterAt = words.findIndex(({ start }) => start >= place.end);
  const after = touching(text.plain, words[afterAt], place.end, 'after') ? words[afterAt] : undefined;
  const hash = '#@$'.includes(text.plain[place.start - 1] ?? ' ');
  const titleCase = isTitleCase(words);
  const starts = startsSentence(text.plain, place.start);
  const capital = CAPITAL.test(surface);
  if (!titleCase && capital && !starts && !hash) note('capital', 1, surface);
  if (ordinary && !text.software && !titleCase && !capital && !hash && CAPITAL.test(text.plain))
    note('lower', 1, surface);
  observeNeighbours({ before, after, surface, capital, titleCase, hash, ordinary }, subject, note);
}

interface Neighbours {
  before: Word | undefined;
  after: Word | undefined;
  surface: string;
  capital: boolean;
  titleCase: boolean;
  hash: boolean;
  ordinary: boolean;
}

function observeNeighbours(
  { before, after, surface, capital, titleCase, hash, ordinary }: Neighbours,
  subject: RelevanceSubject,
  note: Note,
): void {
  const isCompany = (word: Word | undefined) =>
    word !== undefined &&
    (AFTER_COMPANY.has(word.lower) ||
      subject.homonym?.company.has(word.lower) === true ||
      subject.about?.wanted.has(word.lower) === true);
  const isOther =
    after !== undefined && AFTER_OTHER.has(after.lower) && subject.about?.wanted.has(after.lower) !== true;
  if (isCompany(after)) note('followed', 1, `${surface} ${after?.text ?? ''}`);
  else if (isOther) note('compound', 1, `${surface} ${after.text}`);
  if (before !== undefined && FIRST_NAMES.has(before.lower) && CAPITAL.test(before.text) && capital)
    note('surname', 1, `${before.text} ${surface}`);
  if (before !== undefined && PERSON_TITLES.has(before.lower) && capital)
    note('surname', 1, `${before.text} ${surface}`);
  if (
    after !== undefined &&
    FIRST_NAMES.has(surface.toLowerCase()) &&
    CAPITAL.test(after.text) &&
    capital &&
    !isCompany(after) &&
    !titleCase
  )
    note('firstName', 1, `${surface} ${after.text}`);
  if (
    capital &&
    !titleCase &&
    !hash &&
    after !== undefined &&
    CAPITAL.test(after.text) &&
    !isCompany(after) &&
    !isOther &&
    /^\p{Lu}\p{Ll}/u.test(after.text)
  )
    note('longer', 1, `${surface} ${after.text}`);
  const given = FIRST_NAMES.has(surface.toLowerCase());
  if (given && !isCompany(after)) note('given', 1, surface);
  const stadium = subject.homonym?.others.some(({ thing }) => thing.startsWith('a stadium')) === true;
  if (before !== undefined && stadium && PLACE_PREPOSITIONS.has(before.lower))
    note('venue', 0.6, `“${before.text} ${surface}”`);
  else if (before !== undefined && !given && BEFORE_COMPANY.has(before.lower))
    note('preposition', 1, `${before.text} ${surface}`);
  if (
    ordinary &&
    before !== undefined &&
    BEFORE_NOUN.has(before.lower) &&
    !isCompany(after) &&
    (!capital || titleCase)
  )
    note('noun', 1, `${before.text} ${surface}`);
  if (ordinary && before?.lower === 'to' && !capital) note('noun', 0.6, `to ${surface}`);
}

function observeContext(
  text: RelevanceText,
  subject: RelevanceSubject,
  words: readonly Word[],
  note: Note,
): void {
  const own = new Set(subject.names.flatMap((name) => name.split(/[\s-]/)));
  const all = new Set(words.map(({ lower }) => lower).filter((word) => !own.has(word)));
  for (const word of text.parentTitle.match(WORD)?.slice(0, 60) ?? []) if (!own.has(word)) all.add(word);
  if (text.community !== '')
    for (const word of text.community.split(/[^\p{L}\p{N}]+/u)) if (word !== '') all.add(word);
  const hits = (lexicon: ReadonlySet<string>) =>
    [...all].filter((word) => lexicon.has(word) || (word.endsWith('s') && lexicon.has(word.slice(0, -1))));
  const noteHits = (name: SignalName, found: readonly string[], label = '') =>
    found.length > 0 &&
    note(
      name,
      found.length / (found.length + 1),
      label === '' ? quoted(found) : `${label} (${quoted(found)})`,
    );

  if (subject.about) {
    const wanted = hits(subject.about.wanted);
    noteHits('wanted', wanted);
    noteHits('unwanted', hits(subject.about.unwanted));
    const company = subject.homonym ? hits(subject.homonym.company) : hits(COMPANY_WORDS);
    if (subject.about.wanted.size > 0 && wanted.length + company.length === 0) note('offTopic', 1, '');
  }
  const venue = hits(VENUE_WORDS).filter((word) => subject.about?.wanted.has(word) !== true);
  if (text.places.some(({ start }) => AT_A_PLACE.test(text.lower.slice(Math.max(0, start - 10), start))))
    noteHits('venue', venue);
  noteHits('company', hits(COMPANY_WORDS));
  if (subject.homonym) {
    noteHits('own', hits(subject.homonym.company));
    for (const { thing, words: others } of subject.homonym.others) noteHits('other', hits(others), thing);
  }
  if (text.software) return;
  for (const { label, words: others } of FIELDS) {
    const found = hits(others).filter((word) => subject.about?.wanted.has(word) !== true);
    noteHits('field', found, label);
  }
}

function shortened(evidence: string): string {
  return evidence.length > MAX_EVIDENCE_LENGTH
    ? `${evidence.slice(0, MAX_EVIDENCE_LENGTH).toWellFormed()} …`
    : evidence;
}

function quoted(found: readonly string[]): string {
  return found
    .slice(0, 3)
    .map((word) => `“${word}”`)
    .join(', ');
}

function wordsOf(plain: string, lower: string): Word[] {
  const words: Word[] = [];
  for (const match of plain.matchAll(WORD)) {
    if (words.length >= MAX_WORDS) break;
    const end = match.index + match[0].length;
    words.push({
      text: match[0],
      lower: lower.slice(match.index, end).replace(/'s$/, ''),
      start: match.index,
      end,
    });
  }
  return words;
}

/**
 * Returns true if the word touches the place. Between them can be at most three characters: a possessive 's, a space
 * and one of the characters " # @.
 */
function touching(plain: string, word: Word | undefined, edge: number, side: 'before' | 'after'): boolean {
  if (word === undefined) return false;
  const between = side === 'before' ? plain.slice(word.end, edge) : plain.slice(edge, word.start);
  return between.length <= 3 && /^(?:'s)? ?["#@]?$/.test(between);
}

function startsSentence(plain: string, at: number): boolean {
  return /(?:^|[.!?:;"“(—–\]|-])\s*["“'(#@]*$/u.test(plain.slice(Math.max(0, at - 6), at));
}

/** Returns true if most words begin with a capital, as in titles. Then a capital does not show a name. */
function isTitleCase(words: readonly Word[]): boolean {
  const long = words.slice(0, 60).filter(({ text }) => text.length > 3 && /^\p{L}/u.test(text));
  return long.length > 3 && long.filter(({ text }) => CAPITAL.test(text)).length > long.length * 0.65;
}

export { SIGNALS };
