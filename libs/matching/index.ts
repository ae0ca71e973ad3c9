export { compile, searchTermsOf, MAX_PLACES_PER_SEARCH, MAX_PLACES_PER_TERM } from './matcher.js';
export type { FoundTerm, MatchableText, Matcher, SearchMatch, SearchTerms } from './matcher.js';
export { canonicalTerms, foldTerm, isInvisible } from './term.js';
export { foldHandle } from './handles.js';
export { applyMutes, effectiveMute, MUTE_MATCHES, MUTE_TARGETS } from './mutes.js';
export type { Candidate, EffectiveMute, MuteMatch, MuteRule, MuteTarget, MuteVerdict } from './mutes.js';
export { vipOf } from './vips.js';
export type { VipAuthor } from './vips.js';
