import { foldHandle } from './handles.js';
import { compile, type FoundTerm, type Matcher, type SearchTerms } from './matcher.js';
import { foldTerm } from './term.js';

/** The fields that mutes and VIPs use. An `Item` of a check has them. */
export interface Candidate {
  source: string;
  title: string;
  text: string;
  author?: string | undefined;
  community?: string | undefined;
}

/** A mute as stored (`Mute` of the keyword's definition); empty strings count as absent. */
export interface MuteRule {
  value: string;
  /** `text` (title and body, the default), `title`, `body`, `author`, `community`. */
  target?: string | undefined;
  /** Absent or null: any source. */
  source?: string | null | undefined;
  /** `word`, `contains`, `exact`; see `effectiveMute` for the default. */
  match?: string | undefined;
}

/** The parts of an item that a mute can be compared with. */
export const MUTE_TARGETS = ['text', 'title', 'body', 'author', 'community'] as const;
/** A part of an item that a mute can be compared with. */
export type MuteTarget = (typeof MUTE_TARGETS)[number];
/** The ways in which a mute can match. */
export const MUTE_MATCHES = ['word', 'contains', 'exact'] as const;
/** A way in which a mute can match. */
export type MuteMatch = (typeof MUTE_MATCHES)[number];

/** A mute with its defaults filled in. */
export interface EffectiveMute {
  value: string;
  target: MuteTarget;
  source: string | null;
  match: MuteMatch;
}

/** The result of one mute for one candidate. */
export interface MuteVerdict extends EffectiveMute {
  /** `other_source`: the mute is for another source than the candidate's, and was not applied. */
  outcome: 'muted' | 'passed' | 'other_source';
}

/** Sets the defaults: target `text`, any source, match `word` for text and `exact` for author and community. */
export function effectiveMute(mute: MuteRule | string): EffectiveMute {
  const rule = typeof mute === 'string' ? { value: mute } : mute;
  const target = MUTE_TARGETS.find((known) => known === rule.target) ?? 'text';
  const comparesNames = target === 'author' || target === 'community';
  const match = MUTE_MATCHES.find((known) => known === rule.match) ?? (comparesNames ? 'exact' : 'word');
  return { value: rule.value, target, source: rule.source || null, match };
}

/** Returns the first mute that matches the candidate, and the result of every mute in order. */
export function applyMutes(
  mutes: readonly MuteRule[],
  candidate: Candidate,
): { hit: MuteVerdict | undefined; verdicts: MuteVerdict[] } {
  const { all, matcher } = compiledOf(mutes);
  const texts = readTexts(matcher, candidate);
  const verdicts = all.map(({ rule, hits }): MuteVerdict => {
    if (rule.source !== null && rule.source !== candidate.source) return { ...rule, outcome: 'other_source' };
    return { ...rule, outcome: hits(candidate, texts) ? 'muted' : 'passed' };
  });
  return { hit: verdicts.find(({ outcome }) => outcome === 'muted'), verdicts };
}

/** What is read from the title and the text of a candidate, once for all mutes, because a text can be long. */
interface ReadTexts {
  /** The terms that were found, by the key of their search. */
  found: ReadonlyMap<string, readonly FoundTerm[]>;
  /** Returns the folded field. */
  folded(field: 'title' | 'text'): string;
}

function readTexts(matcher: Matcher | undefined, { title, text }: Candidate): ReadTexts {
  const folded: { title?: string; text?: string } = {};
  return {
    found: new Map(matcher?.match({ title, text }).map(({ key, matches }) => [key, matches])),
    folded: (field) => (folded[field] ??= foldTerm(field === 'title' ? title : text)),
  };
}

interface CompiledMute {
  rule: EffectiveMute;
  hits(candidate: Candidate, texts: ReadTexts): boolean;
  /** The search in title and text whose result `hits` reads. */
  search?: SearchTerms;
}

interface CompiledMutes {
  all: CompiledMute[];
  /** Runs the searches of all mutes in one pass. */
  matcher: Matcher | undefined;
}

// Many items are compared with the same array of mutes, which is never changed in place. So an array is compiled once.
const compiled = new WeakMap<readonly MuteRule[], CompiledMutes>();

function compiledOf(mutes: readonly MuteRule[]): CompiledMutes {
  let known = compiled.get(mutes);
  if (!known) {
    const all = mutes.map((mute, n) => compileMute(effectiveMute(mute), String(n)));
    const searches = all.flatMap(({ search }) => search ?? []);
    compiled.set(mutes, (known = { all, matcher: searches.length > 0 ? compile(searches) : undefined }));
  }
  return known;
}

function compileMute(rule: EffectiveMute, key: string): CompiledMute {
  const { target, match } = rule;
  if (target === 'author' || target === 'community') return { rule, hits: nameTest(rule, target) };
  const value = foldTerm(rule.value);
  // A value without visible characters would be found everywhere.
  if (value === '') return { rule, hits: () => false };
  const fields = FIELDS_OF[target];
  if (match === 'exact')
    return { rule, hits: (_, { folded }) => fields.some((field) => folded(field) === value) };
  return {
    rule,
    hits: (_, { found }) => found.get(key)?.some(({ field }) => fields.includes(field)) === true,
    search: { key, mode: match, terms: [value] },
  };
}

const FIELDS_OF: Readonly<Record<'text' | 'title' | 'body', readonly ('title' | 'text')[]>> = {
  text: ['title', 'text'],
  title: ['title'],
  body: ['text'],
};

function nameTest(rule: EffectiveMute, target: 'author' | 'community'): (candidate: Candidate) => boolean {
  const value = foldHandle(rule.value);
  if (value === '') return () => false;
  const hasName = (test: (name: string) => boolean) => (candidate: Candidate) => {
    const name = candidate[target];
    return name !== undefined && test(name);
  };
  if (rule.match === 'exact') return hasName((name) => foldHandle(name) === value);
  if (rule.match === 'contains') return hasName((name) => foldHandle(name).includes(value));
  const matcher = compile([{ key: '', mode: 'word', terms: [value] }]);
  // With the @, `acme.example` is read as a name and not as an address.
  return hasName((name) => matcher.match({ title: '', text: `@${foldHandle(name)}` }).length > 0);
}
