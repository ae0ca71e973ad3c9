import { logistic, SIGNAL_NAMES, type SignalName } from './signal-weights.js';
import { observe, type Observation, type RelevanceText } from './signals.js';
import type { RelevanceSubject } from './subject.js';

/** The relevance of a text for its subject, with the reason. */
export interface Relevance {
  /** 0 to 100. */
  relevance: number;
  reason: string;
}

/**
 * Computes relevance with a logistic function of the weighted signals. The reason is the signal with the largest
 * contribution in the direction of the result.
 * @param weights one weight for each of `SIGNAL_NAMES`
 */
export function readRelevance(
  text: RelevanceText,
  subject: RelevanceSubject,
  weights: Float32Array,
): Relevance {
  const observations = observe(text, subject);
  let sum = weights[SIGNAL_NAMES.indexOf('bias')] ?? 0;
  let contributions: { name: SignalName; gain: number; observation: Observation }[] = [];
  for (const [name, observation] of observations) {
    const gain = (weights[SIGNAL_NAMES.indexOf(name)] ?? 0) * observation.size;
    sum += gain;
    contributions.push({ name, gain, observation });
  }
  const relevance = Math.round(logistic(sum) * 100);
  const side = relevance >= 50 ? 1 : -1;
  contributions = contributions
    .filter(({ gain }) => gain * side > 0)
    .sort((a, b) => (b.gain - a.gain) * side);
  const [first] = contributions;
  return { relevance, reason: first ? REASONS[first.name](first.observation.evidence) : NOTHING[side] };
}

const NOTHING = { 1: 'no sign of another subject', [-1]: 'few signs of the subject' } as const;

const REASONS: Readonly<Record<SignalName, (evidence: string) => string>> = {
  bias: () => NOTHING[1],
  distinctive: (name) => `names “${name}”, which has no other common meaning`,
  repeated: (name) => `names “${name}” several times`,
  thread: () => 'the subject is named in the title of the thread only',
  unnamed: () => 'the text does not name the subject',
  domain: (name) => `links to a site of “${name}”`,
  handle: (handle) => `addresses ${handle}`,
  capital: (name) => `“${name}” is written as a name`,
  lower: (name) => `“${name}” is written as an ordinary word`,
  followed: (phrase) => `“${phrase}” names a company or its product`,
  compound: (phrase) => `part of another name or thing: “${phrase}”`,
  surname: (phrase) => `a person's surname: “${phrase}”`,
  firstName: (phrase) => `a person's first name: “${phrase}”`,
  longer: (phrase) => `part of a longer name: “${phrase}”`,
  preposition: (phrase) => `“${phrase}” is used like the name of a company`,
  given: (name) => `“${name}” is also a person's first name`,
  venue: (words) => `a stadium or a hall, not the company: ${words}`,
  noun: (phrase) => `an ordinary word: “${phrase}”`,
  wanted: (words) => `fits the description of the keyword: ${words}`,
  unwanted: (words) => `the description of the keyword excludes it: ${words}`,
  offTopic: () => 'nothing in it fits the description of the keyword',
  company: (words) => `about a company or its products: ${words}`,
  own: (words) => `about the company: ${words}`,
  other: (thing) => `${thing}, not the company`,
  field: (label) => `about ${label}, not the company`,
};
