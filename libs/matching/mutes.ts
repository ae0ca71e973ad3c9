import { foldHandle } from './handles.js';
import { compile } from './matcher.js';
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
  const verdicts = compiledOf(mutes).map(({ rule, hits }): MuteVerdict => {
    if (rule.source !== null && rule.source !== candidate.source) return { ...rule, outcome: 'other_source' };
    return { ...rule, outcome: hits(candidate) ? 'muted' : 'passed' };
  });
  return { hit: verdicts.find(({ outcome }) => outcome === 'muted'), verdicts };
}

interface CompiledMute {
  rule: EffectiveMute;
  hits(candidate: Candidate): boolean;
}

// Many items are compared with the same array of mutes, which is never changed in place. So an array is compiled once.
const compiled = new WeakMap<readonly MuteRule[], CompiledMute[]>();

function compiledOf(mutes: readonly MuteRule[]): CompiledMute[] {
  let known = compiled.get(mutes);
  if (!known) compiled.set(mutes, (known = mutes.map((mute) => compileMute(effectiveMute(mute)))));
  return known;
}

function compileMute(rule: EffectiveMute): CompiledMute {
  const comparesNames = rule.target === 'author' || rule.target === 'community';
  const value = comparesNames ? foldHandle(rule.value) : foldTerm(rule.value);
  // A value without visible characters would be found everywhere.
  if (value === '') return { rule, hits: () => false };
  if (rule.match === 'exact') {
    const fold = comparesNames ? foldHandle : foldTerm;
    return {
      rule,
      hits: (candidate) => fieldsOf(rule.target, candidate).some((field) => fold(field) === value),
    };
  }
  if (rule.match === 'contains' && comparesNames) {
    return {
      rule,
      hits: (candidate) =>
        fieldsOf(rule.target, candidate).some((field) => foldHandle(field).includes(value)),
    };
  }
  const matcher = compile([{ key: '', mode: rule.match, terms: [value] }]);
  // With the @, `acme.example` is read as a name and not as an address.
  const read = comparesNames ? (name: string) => `@${foldHandle(name)}` : (text: string) => text;
  return {
    rule,
    hits: (candidate) =>
      fieldsOf(rule.target, candidate).some(
        (field) => matcher.match({ title: '', text: read(field) }).length > 0,
      ),
  };
}

function fieldsOf(target: MuteTarget, { title, text, author, community }: Candidate): string[] {
  switch (target) {
    case 'text':
      return [title, text];
    case 'title':
      return [title];
    case 'body':
      return [text];
    case 'author':
      return author === undefined ? [] : [author];
    case 'community':
      return community === undefined ? [] : [community];
  }
}
