/**
 * The reader reads at most this many characters of a text, to limit the time. The beginning usually shows the meaning
 * of a post.
 */
export const MAX_CHARACTERS = 4_000;
/** The reader reads at most this many characters of a title. */
export const MAX_TITLE_CHARACTERS = 500;

/** Characters without width and marks of direction. They could hide words from the reader. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const NOT_ASCII = /[^\x20-\x7E]/;
const LINK = /\b(?:https?:\/\/|www\.)\S+/gi;
const HANDLE = /(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,59}(?:@[\p{L}\p{N}.-]{1,80})?/gu;

/**
 * Returns the beginning of a text in a normal form: without invisible characters and full-width forms, with single
 * spaces. Case is kept.
 */
export function normalised(text: string, max = MAX_CHARACTERS): string {
  const beginning = text.length > max ? text.slice(0, max) : text;
  if (!NOT_ASCII.test(beginning)) return folded(beginning);
  const plain = beginning.toWellFormed().replace(INVISIBLE, '').normalize('NFKC');
  return folded(plain.replace(INVISIBLE, '').replace(/[’‘ʼ]/g, "'")).slice(0, max);
}

/** Returns the text with `http` for each link and `@user` for each @name, as in the training data of the models. */
export function withoutNames(text: string): string {
  const unlinked = text.includes('://') || /www\./i.test(text) ? text.replace(LINK, 'http') : text;
  return unlinked.includes('@') ? unlinked.replace(HANDLE, '@user') : unlinked;
}

/** Returns the text, with the title before it if the author wrote the title and the text does not begin with it. */
export function authorsWords(item: { title: string; text: string; titleOfParent: boolean }): string {
  const text = normalised(item.text);
  const title = item.titleOfParent ? '' : normalised(item.title, MAX_TITLE_CHARACTERS);
  if (title === '' || text.startsWith(title.replace(/(?:\.\.\.)$/, ''))) return text;
  return text === '' ? title : `${title} — ${text}`;
}

/** Returns the text in lower case with the same length, so that positions are the same in both. */
export function lowered(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
