import type { Intent } from '#contracts';
import { anyOf } from './rule.js';

/** The intents that posts on software are told apart by. */
type SoftwareIntent = 'bug_report' | 'feature_request' | 'product_question' | 'support_request';

/** Words that speak for an intent, with their weight in the title; in the text they count a part of it. */
interface Cue {
  intent: SoftwareIntent;
  weight: number;
  words: RegExp;
}

const cue = (intent: SoftwareIntent, weight: number, ...words: string[]): Cue => ({
  intent,
  weight,
  words: anyOf(words),
});

const CUES: readonly Cue[] = [
  cue(
    'bug_report',
    3,
    'bug',
    '(?:crash|regression|segfault|memory leak|deadlock|race)(?:es|ed|s|ing)?',
    'broken',
    'incorrect(?:ly)?',
    'wrong(?:ly)?',
    'flickers?',
    'corrupt(?:ed|s)?',
    'duplicated?',
    'intermittent',
  ),
  cue(
    'bug_report',
    2,
    '(?:is|are|does|do|did|will|has|was|were) not',
    "(?:isn't|doesn't|don't|won't|aren't|didn't|wasn't|hasn't)",
    'no longer',
    'fail(?:s|ed|ing|ure)?',
    'unexpected(?:ly)?',
    'stuck',
    'missing',
    'disappear(?:s|ed)?',
    'hangs?',
    'freezes?',
    'stops?',
    'breaks?',
    'invalid',
    'lost',
    'inconsistent',
    'mismatch',
  ),
  cue(
    'bug_report',
    2,
    'steps to reproduce',
    'repro(?:duce|duction)?',
    'expected (?:behaviou?r|result)',
    'actual (?:behaviou?r|result)',
    'issue type bug',
    'current behaviou?r',
    'have you reproduced',
    'does this issue occur when all extensions are disabled',
    'error call stack',
    'bisect(?:ed)?',
    'since (?:the )?(?:last|latest|update|upgrading|version)',
    'worked (?:fine )?(?:in|before|with)',
    '(?:type|issue type):? bug',
  ),
  cue(
    'feature_request',
    4,
    'feature request',
    'type: feature request',
    'issue type feature(?: request)?',
    '(?:enhancement|proposal|suggestion|rfc|wish)',
    'describe the solution',
    'motivation',
    'feature and motivation',
    'is your feature related to a problem',
  ),
  cue(
    'feature_request',
    3,
    '(?:add|support|allow|provide|implement|introduce|expose|extend|enable|include|consider|improve|make)',
    'ability to',
    'option (?:to|for)',
    'would be (?:nice|great|useful|helpful|good|awesome|cool|convenient|better)',
    "(?:i'd|i would|we would|would) (?:really )?(?:like|love) (?:to|it|if|an?|the)",
    'should (?:be able|support|have an option|allow|provide)',
    'support for',
    'missing feature',
    'configurable',
    'customi[sz]able',
    'please (?:add|support|allow|make|implement)',
  ),
  cue(
    'product_question',
    4,
    'how (?:to|do|can|does|should|would)',
    'what (?:is|are|does|do)',
    'why (?:is|does|do|are)',
    'is (?:it|there) (?:possible|a way|any|an?)',
    'can (?:i|we|you)',
    'which',
    'where (?:is|can|do|to)',
    'question',
    'does (?:anyone|it|this)',
    'difference between',
    'best (?:way|practice)',
    'when (?:will|should|is)',
    'should i',
  ),
  cue(
    'support_request',
    3,
    'help',
    "(?:cannot|can't|can not|could not|couldn't|unable to|not able to) (?:install|build|compile|import|run|load|find|connect|open|start|use|get|access|log ?in|update|link|read|convert|deploy|resolve|download)",
    'installation',
    '(?:trouble|problems? (?:with|in|when)|issues? (?:with|in|when))',
    'errors? (?:when|while|in|on|after|during|using|with|building|installing|importing|compiling)',
    '(?:[\\p{L}]{2,20}error|exception)',
    'modulenotfounderror',
    'importerror',
    'undefined reference',
    'dll load failed',
    'build (?:error|failure|fails|failed)',
    'no such file',
    'permission denied',
    'not (?:found|recognized|working)',
  ),
  cue(
    'support_request',
    2,
    'i (?:get|got|am getting|have|am trying|tried|want|need|am|was)',
    "i'm (?:getting|trying|having|using|new)",
    'my (?:code|project|app|model|computer|laptop|machine|environment|program)',
    'please help',
    'any (?:help|idea|ideas|suggestion)',
    'thanks',
    'stuck',
    'solve',
    'fix this',
    'what am i doing wrong',
  ),
];

/** Sources whose posts are mostly about software. */
export const SOFTWARE_SOURCES: ReadonlySet<string> = new Set([
  'github',
  'stackoverflow',
  'stackexchange',
  'gitlab',
]);
const BASE: Readonly<Record<string, Readonly<Record<SoftwareIntent, number>>>> = {
  github: { bug_report: 3, feature_request: 0, product_question: 0, support_request: 0 },
  stackoverflow: { bug_report: -6, feature_request: -6, product_question: 4, support_request: 3 },
};
const TEXT_PART = 0.4;
const LEAST = 3;

/** Tells reports, requests and questions about software apart by their words; undefined if too few speak. */
export function softwareIntent(
  source: string,
  title: string,
  text: string,
): { intent: Intent; reason: string } | undefined {
  const sums = new Map<SoftwareIntent, { sum: number; best: number; reason: string }>();
  const base = BASE[source] ?? BASE.stackoverflow;
  for (const { intent, weight, words } of CUES) {
    const sum = sums.get(intent) ?? { sum: base?.[intent] ?? 0, best: 0, reason: '' };
    const inTitle = words.exec(title);
    const inText = words.exec(text);
    const gain = (inTitle ? weight : 0) + (inText ? weight * TEXT_PART : 0);
    sum.sum += gain;
    if (gain > sum.best) [sum.best, sum.reason] = [gain, (inTitle ?? inText)?.[0] ?? ''];
    sums.set(intent, sum);
  }
  const [first] = [...sums].sort(([, a], [, b]) => b.sum - a.sum);
  return first && first[1].best > 0 && first[1].sum >= LEAST
    ? { intent: first[0], reason: first[1].reason }
    : undefined;
}
