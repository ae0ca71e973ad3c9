import { ARTICLE, FEW, rule, TWO, type IntentRule } from './rule.js';

/** "I" or "we", and words that can follow it before the verb. */
const I =
  "(?:i|we|i'm|im|i am|we're|we are|i'll|i will|we'll|we will|i'd|i've|ive|we've|i have|we have|i might|i may|i could|gonna|so i|think i'll|think i will|might|finally|also|just|really|now|definitely|probably|seriously|actually|still|officially|so|am|be|been|currently|already|both|all)";
const SELF = `(?:${I} ){1,5}`;
const BUY =
  '(?:buy|purchase|order|preorder|pre-order|get|grab|pick up|cop|invest in|splurge on|treat myself to|own)';
const BUYING =
  '(?:buying|purchasing|ordering|preordering|pre-ordering|getting|grabbing|picking up|copping|investing in|saving up for|saving for|upgrading to|splurging on|signing up for|subscribing to)';

/** The author wants to buy the subject, or has just bought it. */
export const BUY_RULES: readonly IntentRule[] = [
  rule(
    'buy_intent',
    [
      `(?:thinking (?:of|about)|considering|contemplating|planning on|looking (?:at|into)|interested in|tempted by|close to|on the verge of|debating(?: on)?) (?:actually |maybe |just )?${BUYING} ${FEW}(?:§|one|an?|the|my first|some|this|these)`,
      `${SELF}(?:want|need|wanna|have|planning|hoping|ready|going|about|tempted|looking|considering|decided|dying|trying|excited|would love|would like|'d love|'d like|love|like) (?:to |on )?(?:go |finally |just |really |definitely |seriously )?(?:buy|purchase|order|preorder|pre-order|cop|splurge on|treat myself to) ${TWO}(?:§|one|an?|the|my|this|that|these|some|it|them|tickets?)`,
      `${SELF}(?:want|need|wanna get|gonna get|going to get|getting|want to get|need to get|have to get|gotta get|hope to get|about to get|planning to get|'d love to get) ${ARTICLE}(?:[\\p{L}\\p{N}'-]{1,15} )?§(?! (?:to (?!go with|replace)|support|for a (?:bug|fix)|team|devs?|help|account|updates?|fix))`,
      `(?:can't|cant|cannot) wait (?:to (?:get|buy|own|order|have)|for) (?:my|the|a|an) (?:new )?§`,
      `(?:should (?:i|we)|would you|do i|trying to decide whether to|deciding (?:whether|if) (?:to|i should)|not sure (?:if|whether) (?:to|i should)) (?:buy|get|purchase|order|go (?:for|with)|upgrade to|invest in|sign up for) ${FEW}§`,
      `(?:where|how) (?:can|do|could|would|to) (?:i |we |you |one )?(?:buy|purchase|order|pre-?order|get (?:one|my hands on)) ${FEW}(?:§|this|one|it|these|them)`,
      `(?:how much (?:is|does|are|do|would|for)|what(?:'s| is) the price (?:of|for)|price (?:of|for) ${ARTICLE}§\\?) ${FEW}(?:§|it cost|this cost|it\\?)`,
      `in the market for ${FEW}(?:§|a|an|some|new)`,
      'shut up and take my money',
      'take my money',
      `(?:saving|saved|saving up|save up) (?:up )?(?:for|to buy|to get) ${FEW}§`,
      `(?:i|we|i've|finally) (?:just |finally |already |have )*(?:pre-?ordered|ordered|bought) (?:a|an|the|my|myself|me|our|one|two|some) ${FEW}§`,
      `(?:want|wanting|wanna) (?:a|an|the|that|this|my own|one of those|one of these) ${TWO}§ (?:so (?:bad|much)|badly|for (?:christmas|xmas|my birthday|school))`,
      `(?:ready|willing|happy) to (?:pay|buy|order|purchase|sign up|subscribe)(?: for)?`,
      `(?:i'm|im|i am|we're|we are|i'll be|we'll be) (?:definitely |totally |so |finally |also |probably )*${BUYING.replace('getting|', '')} ${TWO}§`,
      `§ ${TWO}(?:is|are) (?:on|at the top of|number one on|next on) my (?:wish ?list|shopping list|list)`,
      `(?:put|added|adding) ${TWO}§ ${TWO}(?:on|to) my (?:wish ?list|cart|basket|shopping list|christmas list)`,
      `anyone (?:selling|have) ${TWO}(?:a |an |any |their )?(?:spare |used |second-hand )?§ ${TWO}(?:for sale|to sell|they(?:'re| are)? (?:want|willing|looking) to sell)`,
      `(?:wtb|want to buy|iso|looking to buy|looking to purchase|looking to get)[:]? ${FEW}(?:§|a|an|some|one|new)`,
      `(?:thinking|think) (?:of|about|i'll|i might|i'm going to|i will) (?:be )?(?:${BUY}|${BUYING}) ${TWO}§`,
      `(?:worth (?:buying|getting|it to buy|upgrading to|the upgrade))(?: ${TWO}§)?`,
      `(?:i'll|i will|we'll|gonna|going to|i might|might|i may|about to|have to|gotta|need to|i should) (?:definitely |just |probably |finally |have to |go )?(?:buy|order|pre-?order|purchase|upgrade to|sign up for|subscribe to|cop|pick up) ${TWO}§`,
    ],
    [
      "(?:don't|dont|do not|never|won't|wont|wouldn't|not|can't|cant|cannot|no need to|refuse to|stop|regret) (?:even |ever |really )?(?:buy|buying|want|need|get|getting|order|purchase|going to buy|gonna buy|worth)",
      "if you (?:do not |don't )?",
      '\\d+ ?% off',
      '(?:use|promo|coupon|discount) code',
      'http (?:#ad|#sponsored)',
      '(?:you|u|they|people|everyone|everybody) (?:can|should|could|must|need to|have to|gotta) (?:buy|get|order|purchase)',
    ],
  ),
];

/** The author stops using the product or company that is the subject, or plans to stop. */
export const CHURN_RULES: readonly IntentRule[] = [
  rule(
    'churn_risk',
    [
      `(?:cancel(?:l?ing|l?ed)?|cancelation of|terminat(?:e|ed|ing)|ending|ended|not renewing|won't renew|will not renew|didn't renew|let(?:ting)?) (?:my|our|the|all my|both my) (?:[\\p{L}'-]{1,15} ){0,2}?(?:§ )?(?:[\\p{L}'-]{1,15} )?(?:subscription|account|membership|plan|contract|service|order and|renewal|license|licence|prime|expire|lapse)`,
      `cancel(?:l?ing|l?ed) (?:my |our |the )?§`,
      `(?:going|about|ready|planning|decided|want|wanted|need|tempted|i'll|i will|we will|we'll|gonna|might|may|time|have|had) (?:to |have to )?(?:cancel|ditch|dump|drop|quit|leave|uninstall|unsubscribe from|boycott|get rid of|switch (?:away )?from|move (?:away )?from|migrate (?:away )?from|say goodbye to) (?:my |our |the |using )?§`,
      `(?:switching|switched|switch|moving|moved|migrating|migrated|migrate|transitioning|transitioned|changing|jumping ship) (?:[\\p{L}\\p{N}'-]{1,20} ){0,3}?(?:away |over |off )?(?:from|off|off of) (?:my |our |the |using )?§`,
      `(?:ditching|ditched|dumping|dumped|abandoning|abandoned|quitting|leaving|boycotting|dropping) (?:my |our |the |using )?§ (?:[\\p{L}'-]{1,20} ){0,2}?(?:for|in favou?r of|because|after|due to|as)`,
      `(?:i'm|im|i am|we're|we are|so|officially|totally|finally|absolutely|completely) (?:officially |totally |finally |so |absolutely |completely )?(?:done|finished|through|over it|fed up) (?:with|using) (?:my |our |the |this |your )?(?:§|company|service|app|product|bank|airline|provider|carrier)`,
      `(?:never|not|won't be|wont be|no longer|will not be|not gonna be|won't ever be) (?:be )?(?:using|buying|shopping at|shopping with|shopping|ordering|ordering from|going back to|flying|flying with|eating at|renewing|paying for|doing business with|returning to|a customer of|coming back to|staying with|supporting|recommending) ${TWO}(?:§|(?:from |with |at )?(?:you|them|here|this (?:company|store|app|place)) (?:again|ever))`,
      `(?:never|not) going (?:back )?to (?:the |a |another |any )?§`,
      `(?:last|final) (?:time|straw|order|purchase|flight) (?:that )?(?:i|we|i'll|i will|i'm|with|from|for|at) ${FEW}(?:§|you|them)`,
      `(?:you(?:'ve| have)?|they(?:'ve| have)?|§(?: has|'s)?) (?:just )?lost (?:a|another|one|me as a|yourself a|yourselves a|themselves a|this|our|my) (?:loyal |long-?time |good |paying |long time )?(?:customer|client|subscriber|business|user|guest)`,
      `(?:taking|take|took) (?:my|our) (?:business|money|custom) (?:elsewhere|somewhere else)`,
      `(?:uninstall(?:ed|ing)|delet(?:ed|ing)|deactivat(?:ed|ing)|clos(?:ed|ing)) (?:my |our |the )?§(?: app| account)?`,
      `(?:delet(?:ed|ing)|deactivat(?:ed|ing)|clos(?:ed|ing)) (?:my|our) § ?(?:account|app|profile)`,
      `how (?:do|can|to) (?:i |we |you )?(?:cancel|close|delete|terminate|get out of) (?:my |our |the |this )?(?:§ )?(?:subscription|account|membership|plan|contract|trial|§)`,
      `(?:unsubscribed|unsubscribing) from (?:my |the )?§`,
      `(?:good)?bye(?:-?bye)? (?:forever )?§`,
      `(?:§|phone|contract|service|app|car|plan|subscription|shit|crap|thing) (?:has|have|gotta|got|needs?|is) (?:to )?(?:go|going back)(?:[,.!]| today| tomorrow| now|$)`,
      `(?:get(?:ting)?|got) rid of (?:my |our |this |the )?§`,
      `(?:return(?:ing|ed)|sell(?:ing)?|sold|trading in) (?:my|our) (?:[\\p{L}\\p{N}-]{1,12} )?§ (?:because|and (?:get|buy|going|go|switch)|for (?:a|an|the) (?!§))`,
      `(?:never|not) (?:ever )?(?:buy|use|shop at|fly|order from|go to|eat at|stay at|trust|pay for|deal with) (?:from |with |at )?(?:a |an |another )?§ (?:again|ever|products?|any ?more)`,
      `last § (?:i|i'll|that i|we) (?:will )?(?:ever )?(?:buy|own|get|use)`,
      `(?:i|we) (?:regret|wish i(?:'d| had)? never|wish i hadn't) (?:buying|switching to|getting|signing up (?:for|with)|bought|switched to) ${TWO}§`,
      '(?:makes?|making|made) me (?:want to )?(?:switch|leave|cancel|quit|change (?:provider|carrier|bank)s?)',
      '(?:stay(?:ing)?|stick(?:ing)?) with (?:them|you|§)[^.!?]{0,20} or (?:go|switch|move|change|leave)',
      '(?:call(?:ing)?|text|email|contact) [^.!?]{0,30}to cancel (?:this|it|my|the|our|everything)',
      `(?:i'm|im|i am|we're|we are|i|we) (?:just |finally |officially )?(?:cancel(?:l?ing|l?ed)?) (?:this|it|everything|my order and)`,
      `(?:bye|goodbye|adios|farewell|so long)[,]? §`,
      `(?:time|ready|want|need|going|about|tempted) to (?:switch|move|change|jump ship|leave)(?: carriers?| providers?| banks?| to| from| over|[.!])`,
      `(?:considering|thinking (?:of|about)|looking at|tempted to|contemplating|planning on) (?:leaving|quitting|ditching|dumping|dropping|cancell?ing|switching|moving|boycotting|getting rid of)(?: away)?(?: from)? (?:my |our |the )?§`,
      `(?:i want|i'd like|i would like|give me|demand) (?:out of|to (?:leave|cancel|quit)) (?:my |our |the )?(?:§|contract|plan)`,
      `(?:i|we) (?:finally |just |recently )?(?:quit|ditched|dumped|left|dropped|abandoned|replaced) (?:my |our |using )?§ (?:last|this|for|after|because|and (?:never|went|moved|switched))`,
      `(?:reason|why) (?:i|we)(?:'m|'re| am| are)? (?:left|leaving|quit|switched from|stopped using|moved from|cancelled|canceled) ${TWO}§`,
      `(?:i|we)(?:'ve| have)? stopped (?:using|buying|shopping at|going to|paying for) (?:my |our |the )?§`,
    ],
    [
      "(?:wouldn't|won't|will not|would not|never|don't|not|didn't|haven't) (?:ever |be )?(?:leave|leaving|cancel|cancell?ing|switch|switching|quit|quitting|ditch|abandon|moving|move)",
      '(?:cancel|cancelled|canceled|cancelling) (?:the|my|our|a) (?:meeting|event|show|game|flight|tour|concert|order)',
    ],
  ),
];

/** The author asks others which product to use. */
export const RECOMMENDATION_RULES: readonly IntentRule[] = [
  rule(
    'recommendation_request',
    [
      `(?:can|could|would|does|do|will) (?:any ?(?:one|body)|some ?(?:one|body)|you|u|you guys|y'all|people|folks|you all) (?:here |please |else |pls )?(?:recommend|suggest|point me (?:to|toward|towards)) (?:me |us )?(?:an?|some|any|the|good|something|one|which|what|where)`,
      `any ?(?:one|body) (?:here )?(?:have|got|know of|know|has) (?:any |a |an |of )*(?:good |great |decent |solid |better )?(?:recommendations?|suggestions?|recs|alternatives?|tips for (?:a|an) (?:good|cheap)|(?:good|great|decent|cheap|reliable|solid|better) [\\p{L}-]{2,20})`,
      `any (?:good |great |solid |other |better |particular |specific |strong |personal |cheap )*(?:recommendations?|recs|suggestions?|alternatives?)(?: (?:for|on|to|of|about) [^.!?]{2,80}| out there| here| please| appreciated| welcome)?\\?`,
      `any (?:recommendations|recs|suggestions) (?:for|on|of|about) (?:an?|some|good|the best|which|what)`,
      `(?:looking for|seeking|need|want|after|open to|welcome|appreciate|love) (?:some |your |any |a few |good |more |other |personal )*(?:recommendations?|recs)(?: (?:for|on|of|about)|\\b)`,
      `looking for (?:some |any |your )?suggestions (?:for|on|about) (?:a|an|some|good|the best|which)`,
      `(?:recommendations|suggestions|recs) (?:for|on) (?:a|an|some|good|the best|which) [^.!?]{2,80}\\?`,
      `(?:looking for|in search of|seeking|searching for|need|want|know of|recommend) (?:an? |some |any |the best |suggestions for )?(?:[\\p{L}-]{2,15} ){0,3}?(?:alternatives?|replacements?|substitutes?|competitors?) (?:to|for|of) ${FEW}§`,
      `(?:what|which)(?:'s| is| are|'re| would be)? (?:the |a |your |everyone's |everybody's |people's |some )?(?:best|good|better|favou?rite|go-?to|preferred|top|most reliable|cheapest|recommended) ${FEW}(?:alternatives?|replacements?|apps?|tools?|softwares?|services?|brands?|options?|ways? to|laptops?|phones?|cameras?|headphones?|places?|hotels?|restaurants?|providers?|plans?|banks?|cards?|platforms?|libraries|library|frameworks?|hosting|hosts?|editors?|ide|vpn|crm|routers?|monitors?|keyboards?|cars?|bikes?|shoes|products?|companies|company|websites?|sites?|books?|courses?|solutions?|one|ones|to (?:buy|use|get))\\b[^.!?]{0,100}\\?`,
      `(?:what|which) (?:[\\p{L}-]{2,20} ){0,3}?(?:do|does|would|should|did) (?:you|you guys|y'all|people|everyone|everybody|folks|i|we|they) (?:all |guys |actually |personally )?(?:use|recommend|suggest|prefer|buy|choose|get|go (?:with|for)|like best)\\b[^.!?]{0,80}\\?`,
      `what (?:are|is) (?:you|you guys|people|everyone|everybody|y'all|folks) using (?:for|to|instead)`,
      `(?:recommend|suggest) (?:me )?(?:an?|some|any) (?:good |great |decent |cheap |reliable |solid |better )?[\\p{L}\\p{N} -]{2,50}\\?`,
      `(?:recommendations?|suggestions?|advice) (?:would be |are |is )?(?:much |very |greatly |really )?(?:appreciated|welcome)`,
      `(?:is there|are there) (?:an?|any|some) (?:good |better |decent |free |cheaper |open[- ]source |self-hosted |viable )+(?:alternatives?|replacements?|options?|tools?|apps?|software|librar(?:y|ies)|services?)[^.!?]{0,80}\\?`,
      `(?:best|good|any|free|cheap|open[- ]source) (?:free |open[- ]source |self-hosted )?(?:alternatives?|replacements?) (?:to|for) ${FEW}§ ?[^.!?]{0,40}\\?`,
      `(?:who|where) (?:should|would|do|can) (?:i|we|you) (?:go|turn|use|buy from|switch to|recommend)\\b[^.!?]{0,80}\\?`,
      `help me (?:choose|pick|decide|find (?:a|an|some))`,
      `(?:ask hn|ask reddit)[:]? (?:what|which|best|any|recommend)[^?]{0,120}\\?`,
      `what should (?:i|we) (?:buy|get|use|choose|switch to|pick|go with|replace)`,
      `(?:lf|iso) (?:recs|recommendations|suggestions)`,
    ],
    [
      "(?:i|we|would|i'd|i'll|highly|strongly|can|definitely|really|totally) (?:highly |strongly |definitely |really |totally |would |can |wholeheartedly )+recommend",
      'feature (?:request|suggestion)',
      'http https? best',
    ],
  ),
];

/** The text compares the subject with something else. */
export const COMPARISON_RULES: readonly IntentRule[] = [
  rule(
    'comparison',
    [
      `§ (?:[\\p{L}\\p{N}'-]{1,15} ){0,2}?(?:vs\\.?|versus) (?:the |a |my )?[\\p{L}\\p{N}§]{1,24}`,
      `[\\p{L}\\p{N}]{2,20} (?:vs\\.?|versus) (?:the |a |my )?§`,
      `§(?:'s)? ${FEW}(?:is|are|was|were|seems|feels|looks|works|runs|performs|has|have|does|got) ${FEW}(?:better|worse|faster|slower|cheaper|nicer|superior|inferior|easier|harder|prettier|uglier|safer|stronger|weaker|(?:more|less) (?:[\\p{L}-]{3,20})) (?:[\\p{L}'-]{1,20} ){0,2}?than (?!ever|before|expected|usual|i |we |you |it |they |last|this|that|what|ok|okay|nothing|anything|most|any|all|a |\\d)`,
      `(?:is|are|was|were|seems|feels|looks|works|runs|performs|does|got) ${FEW}(?:better|worse|faster|slower|cheaper|nicer|superior|inferior|easier|harder|prettier|uglier|safer|stronger|weaker|(?:more|less) (?:[\\p{L}-]{3,20})) (?:[\\p{L}'-]{1,20} ){0,2}?than (?:the |my |a |any )?§`,
      `(?:compared|comparing|in comparison|relative) (?:to|with) (?:the |my |a )?§`,
      `compar(?:e|ing|ison (?:of|between)) (?:the |my )?(?:§ (?:and|with|to|against)|[\\p{L}\\p{N}.-]{2,20} (?:and|with|to|against) §)`,
      `§ (?:[\\p{L}'-]{1,15} ){0,2}?compar(?:es|ed|e) (?:to|with|against)`,
      `(?:difference|differences) between ${FEW}§`,
      `how (?:does|do|is|are|did) (?:the )?§ (?:compare|different|differ|stack up|hold up against|measure up)`,
      `(?:prefer|preferred|prefers|choose|chose|picked|take) (?:my |the )?§ (?:over|to|rather than) `,
      `(?:prefer|preferred|prefers) [\\p{L}\\p{N}.'-]{2,20} (?:over|to|rather than) (?:my |the )?§`,
      `§ or (?:the |a |an |my )?[\\p{L}\\p{N}][^.!?,]{1,30}\\?`,
      `§ ?(?:>|<|>>) ?\\p{L}{1,24}`,
      `§[^.!?]{0,80} (?:better|worse|faster|slower|cheaper|nicer|easier|smoother|smarter|superior|inferior|stronger|weaker|(?:more|less) [\\p{L}]{4,15}) (?:[\\p{L}'-]{1,20} ){0,2}?than (?!ever|before|expected|usual|i |we |you |it |they |last|this|that|what|ok|okay|nothing|anything|most|any|all|a |\\d)`,
      `(?:better|worse|faster|slower|cheaper|nicer|easier|smoother|smarter|superior|inferior|stronger|weaker|(?:more|less) [\\p{L}]{4,15}) than [^.!?]{0,40}§`,
      `(?:no match for|nothing compared to|step (?:up|down) from|(?:up|down)grade from|rather have|wish i had|should have (?:stayed with|gone with|bought|kept)) (?:my |the |a |an )?(?:old )?§`,
      `§ (?:[\\p{L}'-]{1,15} ){0,3}?(?:is|are) (?:no|not a|nothing like) (?!longer|more|way|one|problem)[\\p{L}]{3,20}(?: [\\p{L}]{3,20})?[.!]?$`,
      `[\\p{L}\\p{N}]{2,20} ?(?:>|<|>>) ?(?:the |my |a )?§`,
      `§[^.!?]{0,60} (?:is|are|was|were|not|n't|isn't|aren't|nowhere near|almost|just)[^.!?]{0,20} as (?:good|fast|cheap|reliable|stable|powerful|easy|bad|nice|great) as (?!possible|ever|it|they|i |we |you )`,
      `(?:better|worse|faster|slower|cheaper|nicer|safer|stronger|weaker|superior|inferior) (?:[\\p{L}'-]{1,20} ){0,2}?(?:than|to) (?:the |my |a |any |other |your )*§`,
      `[\\p{L}'-]{2,20} (?:not |isn't |aren't )?(?:as )?good as (?:the |my |a |any |your )*§`,
      `(?:which (?:is|one is|one's)|what's|what is) better[:,]? ${FEW}§`,
      `§ (?:beats|destroys|crushes|outperforms|outclasses|smokes|blows away) `,
      `(?:beats|destroys|crushes|outperforms|outclasses|smokes|blows) (?:the |any )?§ (?:away|out of|hands down|in|on|at|by|every)`,
      `(?:not |isn't |nowhere near |just )?as (?:good|fast|cheap|reliable|stable|powerful|easy|bad|nice) as (?:the |my |a )?§`,
    ],
    [
      '(?:match|game|season|cup|league|goals?|score|live) [^.!?]{0,40} vs',
      '\\d+ ?- ?\\d+',
      'vs\\.? [^.!?]{0,40} (?:match|game|live stream|cup|league)',
    ],
  ),
];

/** The author advertises. */
export const PROMOTION_RULES: readonly IntentRule[] = [
  rule(
    'promotion',
    [
      '(?:up to |save |get |extra |take |now |only )?\\$?£?€?\\d+ ?% (?:off|discount|cash ?back)',
      '(?:save|get) (?:up to )?[$£€] ?\\d+[\\d.,]* ?(?:off|on|when|with|at)?',
      '[$£€] ?\\d+[\\d.,]* off',
      '(?:use|with|enter) (?:my |our |the |promo |discount |coupon |referral )*code[:]? [\\p{L}\\p{N}]{1,24}',
      '(?:promo|discount|coupon|referral|voucher|gift) ?codes?',
      '(?:enter|chance|how) (?:for a chance )?to win',
      '(?:win|winning) (?:a|an|one of|your|free|this|some|tickets|the) ',
      '#?(?:giveaway|sweepstakes|freebie|sponsored|#ad|promo|contest alert|dealoftheday|flashsale|onsale)',
      '(?:buy|shop|order|register|subscribe|download|book|pre-?order|apply|join|sign up|enroll|get (?:it|yours|tickets|your tickets)|grab yours?|start your free trial) (?:yours |it |them |your \\p{L}+ )?(?:now|today|here|online|at http|on http|http|:|before (?:it|they))',
      '(?:now|currently|available|is|are|back|items?|both) (?:available|on sale|for sale|in stock|at half price|half[- ]price)(?: (?:now|at|on|in|for|from|http))',
      '(?:for sale|on sale now|on sale today|selling my|free shipping|free delivery|limited[- ]time|limited edition deal|while (?:stocks?|supplies) lasts?|best price|lowest price|hot deal|great deal on|deals? (?:on|of the day)|best deals?|clearance|half price|buy one,? get one|bogo|price drop)',
      '(?:check out|see|watch|read|visit|try|follow|listen to|come see|take a look at|stop by) (?:my|our) (?:new |latest |brand new |full |website|site|blog|channel|video|post|page|store|shop|book|app|course|article|review|stream|podcast|etsy|project|tool|guide|newsletter)',
      "(?:i|we)(?:'ve| have)? (?:just |recently |finally )?(?:built|made|created|developed|launched|released|published|open[- ]sourced|wrote|written|shipped|designed) (?:a|an|my|our|this|the|some) (?:[\\p{L}\\p{N}-]{1,20} ){0,5}?(?:app|tool|library|package|plugin|extension|site|website|service|framework|platform|game|product|startup|newsletter|course|book|guide|project|bot|cli|api|open source|dashboard|saas|client|editor|template|theme|integration|sdk)",
      "(?:we're|we are|i'm|i am|proud|excited|happy|thrilled|pleased|delighted) (?:so |very |super |proud |excited |happy |thrilled |pleased )*(?:to (?:announce|introduce|share|launch|present|reveal)|announcing|launching|introducing)",
      "(?:show hn|introducing|announcing|now hiring|we're hiring|we are hiring|is hiring|new release|new blog post|new post|new video|new episode)[:!]",
      '(?:join|meet|visit) us (?:at|on|for|in|this|next|live|tomorrow|today|tonight)',
      '(?:link|shop|details|more info|tickets) (?:is |are )?in (?:my |the |our )?(?:bio|profile)',
      '(?:our|my) (?:new|latest|upcoming) (?:[\\p{L}-]{1,20} ){0,2}?(?:webinar|ebook|e-book|course|white ?paper|collection|product|range|store|offer|promotion|service|blog post|podcast|newsletter|release|album|single|book|video) ',
      '(?:dm|call|contact|email|message|text|whatsapp) (?:me|us) (?:for|to|at|on|if) (?:order|price|details|info|more|a quote|booking|collab|promo)',
      '(?:rt|retweet|like and share|follow (?:us )?(?:and|&|\\+) (?:rt|retweet)) (?:to|and|&|for|\\+) (?:win|enter|follow|a chance)',
      '(?:sign up|register|subscribe) (?:for|to) (?:our|my|the free|free|a free)',
      '(?:free (?:trial|download|ebook|webinar|consultation|sample|quote|gift|entry|tickets?))',
      '(?:get|earn|claim|grab|receive|score) (?:a |your |yours |an |some |up to )?(?:free|bonus|exclusive|instant)',
      '(?:special|exclusive|amazing|great|best|huge|massive|incredible) (?:offers?|deals?|discounts?|savings|bargains?)',
      '(?:visit|go to|head (?:over )?to|see more at|learn more at|available at|details at|info at|order at|shop at) (?:our |the )?(?:site|website|store|shop|http|www)',
    ],
    [
      '(?:is|are|was|were) (?:it|this|there|they) [^.!?]{0,40}(?:on sale|for sale|available)[^.!?]{0,40}\\?',
      "(?:no|any|missed|wish|where's|where is|why is there no) (?:good |great )?(?:deals?|discounts?|promo codes?|free shipping)",
    ],
  ),
];
