import { rule, TWO, type IntentRule } from './rule.js';

/** The author asks for a feature that does not exist yet. */
export const FEATURE_RULES: readonly IntentRule[] = [
  rule(
    'feature_request',
    [
      '(?:feature|enhancement) (?:request|proposal|suggestion|idea)',
      '(?:request|proposal|rfc|suggestion|wish ?list|idea)[:] ',
      "(?:would|could|might|it'd|that'd|'d) (?:also |really |still )?be (?:so |really |very |super |pretty |even |much |extremely )*(?:nice|great|cool|awesome|useful|helpful|good|amazing|handy|lovely|better|fantastic|convenient|wonderful|beneficial|neat) (?:if|to (?:have|see|be able|add|support|allow|get|include|provide|make|let)|for (?:§|it|the|us|users) to|feature|addition)",
      `(?:please|pls|plz)(?:,| can you| could you| do)? (?:add|support|allow|bring|implement|include|make (?:it|this|a|an|the|an? option)|consider|introduce|let us|give us (?:an? |the )?(?:option|way|ability)|enable|provide) ${TWO}`,
      `(?:wish|if only|hope) (?:that )?(?:§|it|they|you|there|this|you guys|the app) ${TWO}(?:had|would (?:have|add|support|let|allow|make|bring|just|release|offer)|could (?:have|add|support|let|allow|do|just)|supported|offered|came with|let (?:me|us|you)|allowed|was (?:a|an) (?:way|option)|were (?:a|an) (?:way|option))`,
      `(?:§|you|you guys|they|it|devs?|developers) (?:should|needs? to|ought to|could|must|gotta|has to|have to) (?:really |just |definitely |also |at least |seriously )*(?:add|support|have (?:a|an|the option|support)|allow|include|implement|bring|introduce|offer|let (?:us|me|users|people)|make (?:a|an|it possible)|give us|provide|enable) `,
      `(?:can|could|would|will) (?:you|we|u|you guys|§|they|someone|somebody) (?:please |pls |plz |possibly |maybe )*(?:add|implement|have (?:a|an|the) (?:option|feature|way|button|mode|setting)|get (?:a|an|the) (?:option|feature|way|button|mode)|bring back|introduce|support|include|make (?:it possible|an option|a version)|consider adding) `,
      '(?:add(?:ing)?|adds|implement(?:ing)?|provide|include|introduce|expose|enable|extend|support) (?:native |built-?in |better |more |an? |the |new |official |first-class |optional |full )*(?:support|option|feature|ability|setting|command|button|flag|mode|api|parameter|toggle|shortcut|integration|config|configuration|functionality|capability|hook|method|function|theme|way) (?:for|to|of|that|in|which|when|on|so)',
      '(?:missing|lacks?|lacking|needs?|need|want|wanted|requesting|requested|would love|love to see|like to see) (?:an? |the |some |this |native |built-?in )*(?:feature|option|ability|support|functionality|setting|dark mode|integration|way to)',
      "(?:i'd|i would|we'd|we would|would) (?:really |also |very much )?(?:love|like|appreciate) (?:to see|to be able|to have|it if|if (?:you|there|it|we|§)|an option|a way|the ability|support for|having)",
      "(?:describe|descripe) the (?:feature|solution you'd like|problem you are trying)",
      "(?:is your feature request|describe the solution you'd like|describe alternatives you've considered|motivation for the feature|feature and motivation|please make sure that this is a feature request)",
      '(?:make|made) (?:it )?(?:configurable|customi[sz]able|optional)',
      "(?:no|not any|isn't any|is no) (?:way|option|setting|ability|support|built-?in) (?:to|for) [^.!?]{3,80}(?:please|wish|would be|should|add)",
      '(?:please |pls |should |to )bring back ',
      'when (?:are|will|is) (?:you|§|they|it|you guys) (?:going to |gonna |finally |ever )*(?:add|adding|support|supporting|get|getting|implement|bringing|bring|fix|allow) ',
    ],
    [
      'feature request http',
      '(?:just|has been|was|were|have|has|now|been|we|recently|already) (?:been )?(?:added|supports?|implemented) (?:support|option)',
    ],
  ),
];

/** The author reports a defect. */
export const BUG_RULES: readonly IntentRule[] = [
  rule(
    'bug_report',
    [
      '(?:found|reporting|report|encountered|hit|discovered|noticed|seeing|have|got|another|big|major|critical|serious|annoying|weird|strange|known|new|fix) (?:a |an |this |the |your |another |some |what (?:seems|looks) (?:to be|like) a )*(?:weird |strange |serious |small |minor |annoying |nasty |major |critical |possible |potential |security )*(?:bugs?|glitch(?:es)?|defects?|vulnerabilit(?:y|ies)|regressions?|memory leaks?|race conditions?)',
      '(?:bug|defect|regression|crash)(?: report)?[:\\]]',
      '(?:steps|how) to repro(?:duce)?',
      'repro(?:duction)? steps',
      '(?:expected|actual|current|observed|incorrect|unexpected) behaviou?r',
      '(?:keeps?|kept|constantly|always|randomly|sometimes|immediately|suddenly|just|app|it|§|now) (?:on )?(?:crash(?:es|ed|ing)?|freez(?:es|ing)|froze|glitch(?:es|ing|ed)|segfaults?|hangs)',
      "(?:is|are|was|has been|been|it's|seems|completely|totally|still|now|gets?|got) (?:completely |totally |now |still |all |badly |really |so )*(?:broken|bugged|buggy|glitched|glitching|glitchy|crashing|malfunctioning)(?: (?:on|in|after|since|with|for|when|again|now))?",
      "(?:stopped|quit|not|isn't|aren't|doesn't|don't|no longer|wasn't|didn't|fails to|failed to|won't|stops|never) (?:work(?:s|ing)?|respond(?:s|ing)?|load(?:s|ing)?|open(?:s|ing)?|start(?:s|ing)?|sync(?:s|ing)?|updat(?:e|es|ing)|sav(?:e|es|ing)|render(?:s|ing)?|display(?:s|ing|ed)?|connect(?:s|ing)?) (?:properly |correctly |at all |anymore |any more |as expected )*(?:since|after|on|in|when|with|if|for|unless|anymore|as expected|properly|correctly)",
      "(?:since|after) (?:the |i |this |last |latest |my |your |new |recent |today's |yesterday's )*(?:update|updating|upgrade|upgrading|patch|upgraded|updated|release)[^.!?]{0,80}(?:crash|broke|broken|bug|error|fail|stopped|freez|slow|drain|not work|doesn't|won't|can't|lag|glitch|gone|missing)",
      '(?:segmentation fault|segfault|null ?pointer|stack ?trace|core dump|assertion failed|unhandled exception|uncaught (?:type|reference)?error|infinite loop|memory leak|use[- ]after[- ]free|heap overflow|undefined behaviou?r)',
      '(?:wrong|incorrect|invalid|duplicated?|garbled|corrupt(?:ed)?|inconsistent|unexpected) (?:results?|output|values?|data|rendering|text|order|behaviou?r|state|position|colou?r)',
      '(?:breaks|broke) (?:when|if|on|in|after|the|with|my|everything)',
      '(?:data loss|lost (?:all )?my (?:data|settings|progress|files|photos|contacts) (?:after|when|since|because))',
      '(?:unable|impossible) to (?:reproduce|build|compile|install|launch|open|start)',
      '(?:fails?|failing|failed|crash(?:es|ed|ing)?|throws?|throwing|raises|hangs?|freezes?|broken) (?:when|if|on|with|in|after|while|for|to (?:compile|build|load|start|install|link))',
      '(?:intermittent|test) failures?',
    ],
    [
      '(?:fixed|fixes|fixing|fix for|squashed|patched|resolved) (?:a |the |some |many |several |this |that |an |few )*(?:bugs?|crash|glitch|issues?)',
      '(?:no|zero|without|any) (?:more )?(?:bugs|crashes|glitches)',
      'bug bounty',
    ],
  ),
];
