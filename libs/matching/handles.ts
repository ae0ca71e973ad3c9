import { foldTerm } from './term.js';

/**
 * The form in which handles and communities are compared: case-folded, without `@`, `u/`, `r/`, `/u/`, `/r/` in
 * front. `@Ada`, `u/ada` and `ada` are one; `ada@social.example` keeps its server.
 */
export function foldHandle(handle: string): string {
  let folded = foldTerm(handle);
  for (const prefix of ['/', 'u/', 'r/', '@']) {
    if (folded.startsWith(prefix) && folded.length > prefix.length) folded = folded.slice(prefix.length);
  }
  return folded;
}
