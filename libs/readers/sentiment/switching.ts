import { SUBJECT } from '../text/names.js';

/** A statement about a change to or from the subject, or about a comparison with it. */
export interface Switching {
  /** 1 toward the subject, -1 away from it. */
  direction: 1 | -1;
  /** The words of the statement, with § for the subject. */
  phrase: string;
}

/** A pattern. A match counts for (1) or against (-1) the subject. */
interface Rule {
  pattern: RegExp;
  direction: 1 | -1;
  /** True for a comparison. If the comparative means "worse", the direction is reversed. */
  compares?: true;
}

const BETTER =
  'better|best|faster|quicker|cheaper|nicer|superior|easier|cleaner|smoother|stronger|smarter|safer|simpler|cooler|greater|prettier|lighter|fresher|more (?:\\w+ )?(?:reliable|useful|stable|accurate|intuitive|powerful|secure|affordable|polished|fun|comfortable|responsive|flexible|pleasant)';
const WORSE =
  'worse|worst|slower|uglier|inferior|buggier|clunkier|weaker|harder|dumber|pricier|costlier|laggier|messier|less (?:\\w+ )?(?:reliable|useful|stable|accurate|intuitive|powerful|secure|polished|fun|comfortable|responsive|flexible|pleasant)|more (?:\\w+ )?(?:expensive|annoying|confusing|complicated|buggy|painful|frustrating)';
const IS =
  "(?:is|are|was|were|be|being|seems?|feels?|looks?|works?|worked|runs?|performs?|performed|does|did|got|gets|'s|'re)";
const FEW = "(?: [\\p{L}\\p{N}'-]{1,20}){0,3}?";
const ARTICLE = '(?:the |my |our |your |their |using |with )?';
const S = SUBJECT;
const LEAVE =
  '(?:leav(?:e|es|ing)|left|quit|quitting|ditch(?:ed|es|ing)?|dump(?:ed|s|ing)?|dropp?(?:ed|s|ing)?|abandon(?:ed|s|ing)?|replac(?:e|ed|es|ing)|swapp?(?:ed|s|ing)?|trad(?:e|ed|es|ing)|exchang(?:e|ed|es|ing))';
const MOVE =
  '(?:switch(?:ed|es|ing)?|mov(?:e|ed|es|ing)|migrat(?:e|ed|es|ing)|chang(?:e|ed|es|ing)|jump(?:ed|s|ing)?|convert(?:ed|s|ing)?|transition(?:ed|s|ing)?|port(?:ed|s|ing)?|defect(?:ed|s|ing)?|mov(?:e|ed|ing) everything)';
const BEATS =
  '(?:beats|destroy(?:s|ed)|outperform(?:s|ed)?|outclass(?:es|ed)|crush(?:es|ed)|smokes|trumps|blows away|surpass(?:es|ed))';

const rule = (source: string, direction: 1 | -1, compares?: true): Rule => ({
  pattern: new RegExp(source, 'u'),
  direction,
  ...(compares && { compares }),
});

const RULES: readonly Rule[] = [
  // Away from the subject.
  rule(
    `${MOVE}${FEW}(?: away| over| off)? from ${ARTICLE}${S}(?: [\\p{L}\\p{N}'-]{1,20}){0,2} (?:to|over to|onto) (?!${ARTICLE}${S})`,
    -1,
  ),
  rule(`${MOVE}${FEW} (?:away|off) (?:from |of )?${ARTICLE}${S}`, -1),
  rule(
    `${LEAVE} ${ARTICLE}${S}(?: [\\p{L}\\p{N}'-]{1,20}){0,2} (?:for|with|by|in favou?r of) (?!${ARTICLE}${S})`,
    -1,
  ),
  rule(`(?:instead of|rather than|in place of) ${ARTICLE}${S}`, -1),
  rule(
    `(?:(?:prefer|preferred) (?!${ARTICLE}${S})[\\p{L}\\p{N}'-]{1,20}${FEW} to|(?:prefer|preferred|chose|choose|picked|pick|recommend|take|took) (?!${ARTICLE}${S})[\\p{L}\\p{N}'-]{1,20}${FEW} over) ${ARTICLE}${S}`,
    -1,
  ),
  rule(`(?:good)?bye(?:-?bye)? ${ARTICLE}${S}`, -1),
  rule(`${BEATS} ${ARTICLE}${S}`, -1),
  rule(`${IS}${FEW} (?:${BETTER}|${WORSE})(?: [\\p{L}\\p{N}'-]{1,20}){0,2}? than ${ARTICLE}${S}`, -1, true),
  rule(
    `${S}(?:'s)?${FEW} (?:isn't|is not|aren't|are not|wasn't|not)${FEW} as (?:good|fast|reliable|nice|stable|easy|powerful|cheap|useful) as `,
    -1,
  ),
  // Toward the subject.
  rule(`${MOVE}${FEW} (?:back |over )?(?:to|onto) ${ARTICLE}${S}`, 1),
  rule(`(?:went|going|came|coming|gone) back to ${ARTICLE}${S}`, 1),
  rule(
    `${LEAVE} (?!${ARTICLE}${S})[\\p{L}\\p{N}'-]{1,20}${FEW} (?:for|with|in favou?r of) ${ARTICLE}${S}`,
    1,
  ),
  rule(`${S}(?: [\\p{L}\\p{N}'-]{1,20}){0,2} (?:instead of|rather than|in place of) (?!${ARTICLE}${S})`, 1),
  rule(
    `(?:prefer|preferred|chose|choose|picked|pick|recommend|took|take) ${ARTICLE}${S}(?: [\\p{L}\\p{N}'-]{1,20}){0,2} over (?!${ARTICLE}${S})`,
    1,
  ),
  rule(`${S} ${BEATS} `, 1),
  rule(
    `${S}(?:'s)?${FEW} ${IS}${FEW} (?:${BETTER}|${WORSE})(?: [\\p{L}\\p{N}'-]{1,20}){0,2}? than (?!${ARTICLE}${S})`,
    1,
    true,
  ),
  rule(
    `(?:isn't|is not|aren't|are not|wasn't|not|nothing|never)${FEW} (?:as|like) (?:good|fast|reliable|nice|stable|easy|powerful|cheap|useful) as ${ARTICLE}${S}`,
    1,
  ),
];

const WORSE_WORD = new RegExp(`(?:${WORSE})`, 'u');
const NOT_BEFORE = /(?:\bnot|\bnever|n't|\bno longer|\bwithout|\bnobody|\bno one) (?:[\p{L}']{1,20} ){0,2}$/u;
const HYPOTHETICAL =
  /(?:^|\b)(?:should i|should we|is it worth|worth|anyone|has anybody|has anyone|did you|have you|do you|does|is|are|why|how|what|which|would)\b/u;
/** Words of sport and elections. In such sentences, "beats" is not about products. */
const CONTEST =
  /\d-\d|\b(?:match(?:es)?|season|league|championship|playoffs?|semi-?finals?|tournament|cup|polls?|election|vote[ds]?|goals?|scored?)\b/u;
const MAX_SENTENCES = 40;

/**
 * Finds statements about changes to or from the subject and comparisons with it ("leaving § for Acme", "§ is better
 * than Acme"). Questions with a word of `HYPOTHETICAL`, and sentences about sport or elections, are ignored.
 * @param sentences in lower case, with § for the subject
 */
export function switchingIn(sentences: readonly string[]): Switching[] {
  const found: Switching[] = [];
  for (const sentence of sentences.slice(0, MAX_SENTENCES)) {
    if (!sentence.includes(SUBJECT) || isQuestion(sentence) || CONTEST.test(sentence)) continue;
    const hit = firstOf(sentence);
    if (hit) found.push(hit);
  }
  return found;
}

function firstOf(sentence: string): Switching | undefined {
  for (const { pattern, direction, compares } of RULES) {
    const match = pattern.exec(sentence);
    if (!match) continue;
    const turned = compares === true && WORSE_WORD.test(match[0]);
    const denied =
      NOT_BEFORE.test(sentence.slice(Math.max(0, match.index - 60), match.index)) || deniedInside(match[0]);
    const sign = turned !== denied ? -direction : direction;
    return { direction: sign as 1 | -1, phrase: match[0].trim() };
  }
  return undefined;
}

/** Returns true if the comparison itself is denied: "is not better than". */
function deniedInside(phrase: string): boolean {
  return / than$| than /u.test(phrase) && /(?:\bnot|n't|\bnever|\bno) /u.test(phrase);
}

function isQuestion(sentence: string): boolean {
  return sentence.trimEnd().endsWith('?') && HYPOTHETICAL.test(sentence);
}
