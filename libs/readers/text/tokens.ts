/**
 * Words, emoticons, emoji and punctuation. The alternatives are written so that matching takes linear time.
 */
const TOKEN =
  /@user|[\p{L}\p{M}\p{N}_]+(?:'[\p{L}\p{M}]+)*|[:;=8xX][-'^]?[()[\]DPpoO3/\\|*]+|<\/?3|-_+-|\^_*\^|\p{Extended_Pictographic}|[!?]+|\.{2,}|[.,;:()#"]/gu;
const REPEATED = /(.)\1{2,}/gu;
const WORD = /^[\p{L}\p{N}@]/u;

/** Returns the tokens of a text. @param text `withoutNames` has already replaced each @name with `@user` */
export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Returns the token in lower case, with at most two of the same character in a row ("soooo" becomes "soo"). */
export function foldedToken(token: string): string {
  const lower = token.toLowerCase();
  return lower.length > 2 ? lower.replace(REPEATED, '$1$1') : lower;
}

/** Returns true if the token begins with a letter, a digit or @. */
export function isWord(token: string): boolean {
  return WORD.test(token);
}

const NEGATIONS = new Set(
  `not no never none nobody nothing neither nor nowhere cannot cant can't dont don't doesnt doesn't didnt didn't isnt isn't
  arent aren't wasnt wasn't werent weren't wont won't wouldnt wouldn't couldnt couldn't shouldnt shouldn't hasnt hasn't
  havent haven't hadnt hadn't aint ain't without hardly barely rarely seldom`.split(/\s+/),
);
const ENDS_NEGATION = new Set(['.', ',', ';', ':', '(', ')', 'but', 'although', 'though', 'because', '—']);
const NEGATED_WORDS = 5;

/**
 * Returns for each token: true for a word if one of the five tokens before it in the same clause is a negation. The
 * negation reverses the meaning of the word.
 */
export function negated(tokens: readonly string[]): boolean[] {
  let left = 0;
  return tokens.map((token) => {
    const reversed = left > 0 && isWord(token);
    if (NEGATIONS.has(token)) left = NEGATED_WORDS;
    else if (ENDS_NEGATION.has(token) || /^[!?.]/.test(token)) left = 0;
    else if (left > 0) left -= 1;
    return reversed;
  });
}
