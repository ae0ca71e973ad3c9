import type { LlmItem } from '../reading.js';

/** The parts of an item that a model sees. */
export interface ReadableItem {
  source: string;
  kind: string;
  title: string;
  text: string;
  author?: string | undefined;
  community?: string | undefined;
}

/** Maximum length of a title, in UTF-16 units. */
const TITLE_CHARACTERS = 500;

/**
 * Returns an item as the model sees it, without empty parts.
 * @param characters maximum length of the text, in UTF-16 units; a longer text is cut and gets `…`
 */
export function asLlmItem(item: ReadableItem, characters: number): LlmItem {
  const { source, kind, author = '', community = '' } = item;
  const parts = {
    source,
    kind,
    author,
    community,
    title: cut(item.title, TITLE_CHARACTERS),
    text: cut(item.text, characters),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== ''));
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}…`;
}
