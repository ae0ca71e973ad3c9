import { isId, Refusal } from '#kernel';

/**
 * An id out of the path, in its one spelling: subjects and keys of maps know no other.
 * @throws Refusal `not-found` for what is no id
 */
export function pathId(text: string, what: string): string {
  if (!isId(text)) throw Refusal.notFound(what);
  return text.toLowerCase();
}
