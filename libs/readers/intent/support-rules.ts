import { FEW, rule, TWO, type IntentRule } from './rule.js';

/** Somebody asks for something that does not exist yet. */
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
      '(?:should be|be|were|was) (?:able to|possible to|an option to|a way to|configurable|customi[sz]able|supported)(?= [^.!?]{3,})(?![^.!?]{0,80}(?:error|but (?:it|i)))',
      "(?:no|not any|isn't any|is no) (?:way|option|setting|ability|support|built-?in) (?:to|for) [^.!?]{3,80}(?:please|wish|would be|should|add)",
      '(?:bring back|bring) (?:the |back |your |us )',
      'when (?:are|will|is) (?:you|§|they|it|you guys) (?:going to |gonna |finally |ever )*(?:add|adding|support|supporting|get|getting|implement|bringing|bring|fix|allow) ',
    ],
    [
      'feature request http',
      '(?:just|has been|was|were|have|has|now|been|we|recently|already) (?:been )?(?:added|supports?|implemented) (?:support|option)',
    ],
  ),
];

/** Somebody reports a defect. */
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

/** Somebody needs help with something that does not work for them. */
export const SUPPORT_RULES: readonly IntentRule[] = [
  rule(
    'support_request',
    [
      '(?:please|pls|plz|can (?:you|some ?one|any ?one|any ?body|u)|could (?:you|some ?one|any ?one)|need(?: some)?|any|i need|want|asking for|looking for|appreciate (?:any|some|your)|desperate for|seeking|someone|somebody|send|get|kindly|who can) (?:please |pls |some |your |any |me |us )*(?:help|assist|assistance|support|advise|guidance)(?! (?:us|them|him|her|people|the|a|spread|others|raise|fund))',
      'help(?: me)?(?:,)? please',
      'help me (?:fix|solve|with (?:this|my|the)|out|understand|figure|debug|resolve|get)',
      "(?:how|why) (?:do|can|should|to|could|would|does|is|are|did|am|won't|can't|doesn't|isn't|don't) [^?]{0,160}(?:error|fix|problem|not work(?:ing)?|fail(?:s|ed|ing|ure)?|crash(?:es|ed|ing)?|exception|stuck|solve|resolve|issue|broken|wrong|can't|cannot|won't|doesn't|unable|refused|denied|blocked|freez|recover|reset my|lost|locked out|warning)",
      '(?:getting|get|gets|got|receive|receiving|received|seeing|see|having|have|facing|face|encounter(?:ed|ing)?|keep(?:s)? getting|run(?:ning)? into|ran into|throws?|gives?|giving me|shows?|returns?) (?:me |us |the |this |an |a |following |some |these |same |weird |strange |many |below |with |out |of |memory )*(?:errors?|exceptions?|error message|warning|problems?|issues?|trouble|difficult(?:y|ies))',
      "(?:can't|cannot|can not|cant|could not|couldn't|unable to|not able to|won't let me|wont let me|doesn't let me|failing to|failed to|i am not able|i'm not able|not letting me|struggling to|having trouble|trouble) (?:seem to |even |figure out |find out |get |to |manage to |connect|log ?in|sign ?in|access|install|download|update|open|send|receive|find|make|use|play|load|reset|activate|reach|import|compile|build|run|start|see|add|change|upload|verify|pay|view|watch|logging|connecting|getting|with)",
      "(?:doesn't|does not|not|isn't|don't|won't|didn't|is not|aren't|stopped|never|wasn't) (?:even |seem to |be |seem to be )*(?:work(?:s|ing)?|load(?:s|ing)?|respond(?:s|ing)?|show(?:s|ing)?(?: up)?|charg(?:e|ing)|connect(?:s|ing)?|turn(?:ing)? on|updat(?:e|ing)|open(?:s|ing)?|download(?:s|ing)?|install(?:s|ing)?|sync(?:s|ing)?)",
      '(?:is|are|anyone|anybody|any ?one else|else|is it just me or is|wtf is) (?:else )?(?:having|experiencing|getting|seeing|down|facing|§ down|the site down|your (?:site|app|server|servers|service|website) down)[^.!?]{0,60}(?:problems?|issues?|trouble|errors?|\\?)',
      "(?:what(?:'s| is| am i| did i| could be)? (?:doing )?(?:wrong|the (?:problem|issue|cause|fix|solution))|what am i missing|where am i going wrong|what went wrong)",
      '(?:how|any(?: ideas?| way| idea how| clue| solution| thoughts?| suggestions?)?|does any ?one know how|trying|tried|attempt(?:ing|ed)?) (?:can i |do i |to |i |on how to |how to |can we |could i |should i )*(?:fix|solve|resolve|troubleshoot|debug|get (?:it|this|that|rid of)|work ?around|recover|restore|unlock)',
      "(?:i(?:'m| am|'ve been| have been|ve been)?|we(?:'re| are)?) (?:totally |completely |still |really |getting |a bit |been |so )*(?:stuck|lost|clueless|confused|locked out|stumped|struggling|charged twice|trying for (?:hours|days|weeks))",
      "(?:where(?:'s| is| are)|still (?:waiting|haven't (?:received|got)|no)|haven't (?:received|gotten|got)|have not received|never (?:received|arrived|got)) (?:for |on |the |a |any )?(?:my|our|an?|the)? ?(?:order|package|parcel|refund|delivery|reply|response|email|confirmation|item|money|account|driver|replacement|shipment)",
      "(?:my|our) (?:[\\p{L}§-]{1,20} ){0,3}?(?:account|order|card|phone|password|subscription|payment|app|screen|device|laptop|package|refund|booking|login|internet|service|connection|number) (?:has been |was |is |got |keeps |won't |isn't |has |are |been |were )(?:[\\p{L}-]{1,15} ){0,2}?(?:locked|blocked|suspended|hacked|down|wrong|missing|lost|declined|stolen|cancelled|canceled|disabled|charged|frozen|stuck|broken|cracked|dead|not|banned|late|delayed|turn|load|work|connect)",
      "(?:tried|trying|try|have tried|i've tried) (?:everything|restarting|reinstalling|rebooting|resetting|several|many|all|different|a lot|various|multiple|both|to [^.!?]{3,80}(?:but|however|without (?:success|luck)|and (?:it|i get|nothing)))",
      `(?:customer (?:service|support|care)|support team|helpdesk)[^.!?]{0,60}(?:please|help|no (?:answer|reply|response)|\\?)`,
      `(?:contact|dm|email|call|reply to|respond to|get back to) me (?:back |please|asap|about my|regarding my)`,
      '(?:error|exception|traceback|err|errno|error code|fatal|failed)[:] ',
      '(?:error|exception)(?: [\\p{L}\\p{N}:._-]{1,30}){0,4} (?:when|while|in|on|after|with|during|using|trying|for) ',
      '(?:without (?:success|luck)|no luck|to no avail|not sure what|no idea (?:why|what|how))',
    ],
    [
      '(?:glad|happy|here|able|love|want|ready|willing|going|trying|proud|designed|built|made) to help',
      '(?:can|could|will|would|may|might|helps?|that|which|it|to) help (?:you|your|us all|them|him|her|people|businesses|customers|companies)',
    ],
  ),
];

/** Somebody asks how something is used or whether it can do something. */
export const QUESTION_RULES: readonly IntentRule[] = [
  rule('product_question', [
    `(?:does|do|did|can|could|is|are|will|would|has|have|should|was|when (?:will|is|does|are|do|did)|where (?:is|are|can|do|does)|what (?:is|are|does|do|time|kind|type|version|happened|happens)|which|who|why (?:does|is|do|are|did|would|doesn't|isn't|can't)|how (?:does|do|is|are|long|many|often|come|big|can|to|would|did)) ${FEW}§[^?]{0,120}\\?`,
    `§ ${FEW}(?:does|do|can|is|are|will|has|how|what|when|why|which)[^?]{0,100}\\?`,
    '(?:how|where) (?:do|can|could|should|would|does|to) (?:i|we|you|one|u|someone|a|the|add|use|get|set|make|create|change|find|install|run|configure|enable|disable|remove|convert|read|write|send|pass|call|access|check|implement|build|define|deploy|display|handle|load|connect|update|upgrade|store|select|calculate|effectively|properly|best|achieve|export|import|integrate|customi[sz]e|style|test|render|extend|override|parse|filter|sort|merge|split|force|prevent|avoid|share|move|copy|delete|track|show|hide|open|save|turn|cancel|redeem|transfer|download|play|watch|buy) ',
    "(?:is|are|was|isn't) there (?:an?|any|some|a better|another|a good|a simple|an easy|a proper|a native|built-?in)? ?(?:ways?|method|function|option|setting|possibility|built-?in|api|tool|plugin|chance|plans?|documentation|docs|example|tutorial|equivalent|difference|limit|best practice|app)",
    '(?:is|was|would) it (?:even |also |still |ever )?(?:possible|okay|ok|safe|normal|legal|allowed|supported|compatible|supposed|worth|free|necessary|better|recommended|true that)',
    '(?:can|could|may|should|do|does|did) (?:i|we|you|one|u|any ?one|some ?one|any ?body) (?:still |also |just |even |always |really |please |have to |need to )?(?:use|get|set|make|run|change|add|install|play|have|need|explain|tell|know|access|do|go|watch|take|connect|export|import|pass|call|convert|create|put|share|upgrade|return|bring|pay|clarify|confirm|see|transfer|link|combine)[^.!]{0,140}\\?',
    "what(?:'s| is| are|s) (?:the )?(?:difference|best (?:way|practice|approach)|correct way|right way|proper way|equivalent|meaning|purpose|use of|point of|minimum|maximum|status|release date|eta|default|recommended|[\\p{L}-]{2,20}) [^?]{0,120}\\?",
    '(?:does|do) any ?(?:one|body) (?:here )?(?:know|else know|understand|have experience)',
    '(?:wondering|curious|want to know|like to know|question(?:s)? (?:is|about|for|regarding|on)|i have a question|quick question|asking) ?(?:if|whether|how|why|what|about|when|where|is)?',
    '(?:any (?:news|update|eta|word|plans|idea|info|documentation|examples?|experience)s? (?:on|about|for|when|to|of|with|regarding))',
    '\\[?question\\]?[:\\]]',
  ]),
];
