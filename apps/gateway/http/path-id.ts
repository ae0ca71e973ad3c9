import { isId, Refusal } from '#kernel';

/**
 * Returns an id from the path in lower case, because NATS subjects and keys of maps contain ids in lower case.
 * @throws Refusal `not-found` if the text is not an id
 */
export function pathId(text: string, what: string): string {
  if (!isId(text)) throw Refusal.notFound(what);
  return text.toLowerCase();
}
