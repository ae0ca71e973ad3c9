import { foldHandle } from './handles.js';
import type { Candidate } from './mutes.js';

/** A VIP as stored (`Vip` of the keyword's definition); without a source it applies to all sources. */
export interface VipAuthor {
  handle: string;
  source?: string | null | undefined;
  note?: string | null | undefined;
}

/** Returns the first VIP who is the candidate's author. Handles are compared without case and without `@` or `u/`. */
export function vipOf<T extends VipAuthor>(vips: readonly T[], candidate: Candidate): T | undefined {
  if (vips.length === 0 || !candidate.author) return undefined;
  const author = foldHandle(candidate.author);
  return vips.find(
    ({ handle, source }) => (!source || source === candidate.source) && foldHandle(handle) === author,
  );
}
