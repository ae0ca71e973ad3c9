import { SUBJECT } from '../text/names.js';
import { sentencesOf } from '../text/sentences.js';
import { anyOf } from './rule.js';

const MAX_SENTENCES = 20;
const LINK = 'http';

/** Beginnings of questions. A greeting or a name can precede them. */
const ASKS =
  /^(?:[@#]?(?:user|§)[,:]? |[-–—>"'(]+ ?|(?:hey|hi|hello|so|and|but|ok|okay|question|ps|also|wait|quick question|dear|please|pls|yo|uh|um|hmm|just wondering|can you tell me|do you know|does anyone know|anyone know|any ?body know|anyone)[,:]? )*(?:does|do|did|can|could|is|are|was|will|would|has|have|should|when|where|what|what's|which|why|how|how's|who|if|whether|am|isn't|doesn't|can't|any (?:news|update|eta|word|plans|idea|chance))\b/u;
/** Questions between people that are not about the subject. */
const SOCIAL = anyOf([
  "(?:are|r|is|did|do|does|will|would|have|can|could|u|wanna|should|any ?one|any ?body|some ?one|who|who's|whos) (?:you|u|ya|yall|y'all|we|any ?one|any ?body|some ?one|he|she|they|people|guys|ever|else|wants?|wanna|is|am|down|trying|tryna) ?(?:guys |all |still |ever |even |also |want |wanna |down |trying |tryna )*(?:to )?(?:go|going|goes|ready|wanna|want|watch|watching|excited|see|seen|think|come|coming|meet|play|playing|there|bored|awake|up|love|hate|remember|believe|imagine|feel|surprised|interested|hear|heard|tryna|trying|down|with)",
  'you know',
  'right',
  "who's with me",
  'who (?:is|am|wants?|else|cares?|chose)',
  'what kind of',
  'why (?:does|do|is|are) (?:it|i|everyone|people|nobody) ',
  'how (?:cool|crazy|great|bad|sad|stupid|dumb|awesome|amazing|funny|much do i)',
]);
/** Phrases that ask about a product. They can be anywhere in the text. */
const EXPLICIT = anyOf([
  '(?:does|do) any ?(?:one|body) (?:here |else )?(?:know|have experience) [^.!?]{4,120}\\?',
  'is there (?:an?|any) (?:other |better |good |easy |simple )?(?:way|method|option|setting|plan) (?:to|for|of) [^.!?]{3,120}',
  'is it possible to [^.!?]{3,120}\\?',
  '(?:i have|quick|one|another|got) (?:a |quick )?questions? (?:about|on|for|regarding)',
  'how (?:do|can|should|would) (?:i|we|you) (?:add|use|get|set|make|create|change|find|install|run|configure|enable|disable|remove|convert|connect|update|upgrade|share|move|copy|delete|turn|redeem|transfer|download|open|save|import|export|play|return) [^.!?]{2,120}\\?',
]);

/** Words that ask for help. */
const HELP = anyOf([
  '(?:please|pls|plz|can (?:you|some ?one|any ?one|any ?body|u)|could (?:you|some ?one|any ?one)|i need(?: some)?|we need|i want|desperate for|kindly|who can) (?:please |pls |some |your |any |me |us )*(?:help|assist|assistance|support|fix)(?! (?:us|them|him|her|people|a|spread|others|raise|fund))',
  'help(?: me)?,? (?:please|pls|plz)',
  'help me (?:fix|solve|with (?:this|my|the)|figure|debug|resolve|get|find|recover|cancel|reset|log)',
  'any (?:help|assistance) (?:is |would be |with |on |appreciated|please)',
  '(?:what am i|what did i|am i) (?:doing|do|missing) ?(?:wrong)?',
  'how (?:do|can) (?:i|we) (?:fix|solve|resolve|recover|restore|unlock|get around|get rid of|reset|troubleshoot) [^.!?]{2,120}',
  '(?:contact|dm|email|call|reply to|respond to|get back to) me (?:back|please|asap|about my|regarding my)',
  "(?:still |haven't |have not |never )(?:waiting (?:for|on)|received|gotten|heard back)[^.!?]{0,40}(?:my|our|refund|reply|response|order)",
  "where(?:'s| is| are) my (?:[\\p{L}-]{2,15} )?(?:order|package|parcel|refund|delivery|money|item|confirmation)",
]);
/** Phrases about something that does not work for the author. */
const PROBLEM = anyOf([
  "(?:can't|cannot|can not|cant|couldn't|unable to|not able to|won't let me|doesn't let me|not letting me|having trouble|trouble|failed to|trying to) (?:seem to |even |still |figure out how to )?(?:log(?:ging)? ?(?:in|on|into)|sign(?:ing)? ?(?:in|up|into)|access|install|download|update|upgrade|open|send|receive|connect(?:ing)?|activate|load|reset|import|export|pay|upload|verify|sync|start|run|build|change my|find my|cancel|link|add|use (?:my|the|it))",
  '(?:getting|get|got|keep getting|seeing|receiving|having|have|facing|gives me|shows?) (?:me |the |this |an |a |same |weird |some |constant )*(?:errors?|error message|error code|problems? with|issues? with|trouble with)',
  "(?:my|our|the) (?:[\\p{L}§-]{1,20} ){0,3}?(?:account|order|card|phone|password|subscription|payment|app|screen|device|laptop|package|refund|booking|login|internet|service|connection|code|download|update|site|website) (?:has been |was |is |got |keeps |won't |isn't |has |are |been |doesn't |still )(?:[\\p{L}-]{1,15} ){0,2}?(?:locked|blocked|suspended|hacked|down|wrong|missing|lost|declined|cancelled|canceled|disabled|charged|frozen|stuck|broken|dead|not|delayed|turn|load|work|working|connect|charge)",
  "(?:isn't|is not|not|doesn't|won't|stopped|never) (?:working|loading|responding|connecting|syncing|updating|opening|charging|load|work|connect|open|sync|turn on)",
  '(?:charged (?:me )?twice|locked out|error (?:code )?[\\p{L}]?\\d{2,})',
]);
/**
 * Signs that the author speaks to somebody or asks something. Without such a sign, a problem is not a request for help.
 */
const ADDRESSED = /^@(?:user|§)|\?|\bplease\b|\bpls\b|\bplz\b|\bany ?(?:one|body)\b|\bhow\b|\bwhy\b/u;

/** Returns the question about the product in the text; undefined if there is none. */
export function questionIn(text: string): string | undefined {
  const explicit = EXPLICIT.exec(text)?.[0];
  if (explicit !== undefined && !explicit.includes(LINK)) return explicit;
  return sentencesOf(text)
    .slice(0, MAX_SENTENCES)
    .find(
      (sentence) =>
        sentence.endsWith('?') &&
        sentence.includes(SUBJECT) &&
        ASKS.test(sentence) &&
        !SOCIAL.test(sentence) &&
        !text.includes(LINK),
    );
}

/** Returns the words in which the text asks for help with something that does not work; undefined if there are none. */
export function helpWantedIn(text: string): string | undefined {
  return HELP.exec(text)?.[0] ?? (ADDRESSED.test(text) ? PROBLEM.exec(text)?.[0] : undefined);
}
