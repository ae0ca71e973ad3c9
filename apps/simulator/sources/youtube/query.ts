import { hasPhrase, wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';

type Predicate = (post: SimPost) => boolean;

/**
 * Parses YouTube's `q` and returns a function that tests whether a post matches. All words and `"phrases"` must match.
 * `|` means OR and has a higher precedence than the space. `-` excludes a word or phrase. Title, description and
 * channel name are searched.
 */
export function parseYoutubeQuery(q: string): Predicate {
  const tokens = q.match(/-?"[^"]*"?|\||[^\s|"]+/g) ?? [];
  const groups: Predicate[][] = [];
  let followsOr = false;
  for (const token of tokens) {
    if (token === '|') {
      followsOr = groups.length > 0;
      continue;
    }
    const matches = termPredicate(token);
    if (followsOr) groups.at(-1)?.push(matches);
    else groups.push([matches]);
    followsOr = false;
  }
  return (post) => groups.every((alternatives) => alternatives.some((matches) => matches(post)));
}

function termPredicate(token: string): Predicate {
  const isExcluded = token.startsWith('-') && token.length > 1;
  const words = wordsOf(token);
  return (post) => {
    const { title, text } = wordsOfPost(post);
    const fields = [title, text, wordsOf(post.authorName)];
    return (words.length === 0 || fields.some((field) => hasPhrase(field, words))) !== isExcluded;
  };
}
