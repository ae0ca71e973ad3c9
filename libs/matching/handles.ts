import { foldTerm } from './term.js';

/**
 * Returns the form in which handles and communities are compared: case-folded, without a leading `@`, `u/`, `r/`,
 * `/u/`, `/r/`.
 * `@Ada`, `u/ada` and `ada` are equal; `ada@social.example` keeps its server.
 */
export function foldHandle(handle: string): string {
  let folded = foldTerm(handle);
  for (const prefix of ['/', 'u/', 'r/', '@']) {
    if (folded.startsWith(prefix) && folded.length > prefix.length) folded = folded.slice(prefix.length);
  }
  return folded;
}
