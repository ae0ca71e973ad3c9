import type { Intent } from '#contracts';
import { anyOf } from './rule.js';

/** The intents that are distinguished in posts on software. */
type SoftwareIntent = 'bug_report' | 'feature_request' | 'product_question' | 'support_request';

/**
 * Words that indicate an intent. `weight` is their weight in the title. In the text it is multiplied by `TEXT_PART`.
 */
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
  // Phrases from the issue templates of projects.
  cue(
    'bug_report',
    8,
    'issue type:? bug',
    'type:? bug',
    'feature or report a bug\\?? (?:report a )?bug',
    'repro(?:duction)? steps',
    'steps to repro(?:duce)?',
    'have you reproduced the bug',
    'does this issue occur when all extensions are disabled',
  ),
  cue(
    'feature_request',
    10,
    'type:? feature(?: request)?',
    'feature or report a bug\\?? feature',
    'feature request',
    'feature (?:idea|proposal)',
    'describe the feature',
    'descripe the feature',
    "describe the solution you'd like",
    'feature related to a problem',
    'feature and motivation',
    'willing to contribute it',
  ),
  cue(
    'support_request',
    10,
    'issue type:? support',
    'type:? support',
    'a question rather than reporting a bug',
  ),
  {
    intent: 'feature_request',
    weight: 4,
    // A title that begins with a task.
    words:
      /^(?:[\p{L}\p{N}/ -]{1,20}: ?)?(?:please |pls |can we |could we |should )?(?:add|support|allow|provide|implement|introduce|expose|extend|enable|include|consider|improve|make|port|use|enhance|remove|replace|show|let|move|refactor|update)(?:ing)? (?!is|are|does|not|when|fails?)/u,
  },
  // A title that is a question.
  { intent: 'product_question', weight: 3, words: /^[^—]{3,200}\?(?= —|$)/u },
  cue('product_question', 8, 'type:? question', 'question[:]', '(?:i )?have a question'),
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
/** Sources whose posts are questions. */
const QUESTION_SOURCES: ReadonlySet<string> = new Set(['stackoverflow', 'stackexchange']);
/** Something does not work for the person who asks. */
const PROBLEM = anyOf([
  '(?:does|do|did|is|are|was|will|has|can|could) not',
  "(?:doesn't|don't|didn't|isn't|aren't|wasn't|won't|hasn't|can't|couldn't|cannot|cant)",
  'errors?',
  '[\\p{L}]*(?:error|exception)',
  'fail(?:s|ed|ing|ure)?',
  '(?:problem|trouble|issue)s?',
  'wrong(?:ly)?',
  'unable',
  'stuck',
  'crash(?:es|ed|ing)?',
  'not (?:working|found|defined|recognized|showing|loading|updating|displayed|rendering)',
  'broken',
  'undefined',
  'warning',
  'unexpected(?:ly)?',
  'missing',
  'struggling',
  'no longer',
  "but (?:it|the|this|nothing|i (?:get|am|keep|still|have|can)|i'm|only|still|when|not|no|then|there|my)",
  "why (?:is|are|does|do|am|did|was|isn't|can't) (?:my|i|it|this|the|there)",
  '(?:returns?|returning|gives?|shows?|showing|prints?|outputs?|getting|get) (?:me )?(?:only |always |an? |just )*(?:null|empty|nothing|nan|none|blank|zero|0|false|different|old)',
  'nothing (?:happens|works|shows)',
  'what am i (?:doing wrong|missing)',
  'help me',
  'instead of',
  '(?:fix|solve|resolve)',
  'i (?:get|got|am getting|keep getting)',
]);
/** An issue without any other sign is most probably a bug report. */
const ISSUES_BEGIN_AS = { bug_report: 0.1 } as const;
const TEXT_PART = 0.4;
const PROBLEM_CHARACTERS = 450;
const MARKUP = /[*_#<>`|[\]{}~=-]+/g;

/** Distinguishes reports, requests and questions about software by their words. */
export function softwareIntent(
  source: string,
  title: string,
  text: string,
): { intent: Intent; reason: string } {
  const [plainTitle, plainText] = [title, text].map((each) =>
    each.replace(MARKUP, ' ').replace(/ {2,}/g, ' '),
  );
  if (QUESTION_SOURCES.has(source)) return questionIntent(plainText ?? '');
  const sums = new Map<SoftwareIntent, number>(Object.entries(ISSUES_BEGIN_AS) as [SoftwareIntent, number][]);
  const reasons = new Map<SoftwareIntent, { gain: number; words: string }>();
  for (const { intent, weight, words } of CUES) {
    const inTitle = words.exec(plainTitle ?? '');
    const inText = words.exec(plainText ?? '');
    const gain = weight * ((inTitle ? 1 : 0) + (inText ? TEXT_PART : 0));
    if (gain === 0) continue;
    sums.set(intent, (sums.get(intent) ?? 0) + gain);
    if (gain > (reasons.get(intent)?.gain ?? 0))
      reasons.set(intent, { gain, words: (inTitle ?? inText)?.[0] ?? '' });
  }
  const [intent] = [...sums].reduce((best, each) => (each[1] > best[1] ? each : best));
  const words = reasons.get(intent)?.words;
  return { intent, reason: words === undefined ? 'an issue without other signs' : `“${words.trim()}”` };
}

function questionIntent(text: string): { intent: Intent; reason: string } {
  const problem = PROBLEM.exec(text.slice(0, PROBLEM_CHARACTERS));
  return problem
    ? { intent: 'support_request', reason: `“${problem[0]}”` }
    : { intent: 'product_question', reason: 'a question without a problem' };
}
