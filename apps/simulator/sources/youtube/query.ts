import { hasPhrase, wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';

type Test = (post: SimPost) => boolean;

/**
 * YouTube's `q`: words and `"phrases"`, all of which must match; `|` separates alternatives, and binds more strongly
 * than the space; `-` to exclude. Searches title, description and channel.
 */
export function youtubeQuery(q: string): Test {
  const tokens = q.match(/-?"[^"]*"?|\||[^\s|"]+/g) ?? [];
  const groups: Test[][] = [];
  let isAlternative = false;
  for (const token of tokens) {
    if (token === '|') {
      isAlternative = groups.length > 0;
      continue;
    }
    const test = termTest(token);
    if (isAlternative) groups.at(-1)?.push(test);
    else groups.push([test]);
    isAlternative = false;
  }
  return (post) => groups.every((tests) => tests.some((test) => test(post)));
}

function termTest(token: string): Test {
  const isExcluded = token.startsWith('-') && token.length > 1;
  const words = wordsOf(token);
  return (post) => {
    const { title, text } = wordsOfPost(post);
    const places = [title, text, wordsOf(post.authorName)];
    return (words.length === 0 || places.some((place) => hasPhrase(place, words))) !== isExcluded;
  };
}
