import { isId, Refusal } from '#kernel';

/**
 * An id from the path, in its canonical spelling, which subjects and keys of maps use.
 * @throws Refusal `not-found` if the text is not an id
 */
export function pathId(text: string, what: string): string {
  if (!isId(text)) throw Refusal.notFound(what);
  return text.toLowerCase();
}
