/** The reader reads this many characters of a text: the beginning tells what a post means, and the time stays bounded. */
export const MOST_CHARACTERS = 4_000;
/** The same for a title. */
export const MOST_TITLE_CHARACTERS = 500;

/** Characters without width and marks of direction, which hide words from a reader. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const NOT_ASCII = /[^\x20-\x7E]/;
const LINK = /\b(?:https?:\/\/|www\.)\S+/gi;
const HANDLE = /(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,59}(?:@[\p{L}\p{N}.-]{1,80})?/gu;

/** The beginning of a text in one normal form: no invisible characters, no odd widths, single spaces. Case is kept. */
export function normalised(text: string, most = MOST_CHARACTERS): string {
  const beginning = text.length > most ? text.slice(0, most) : text;
  if (!NOT_ASCII.test(beginning)) return folded(beginning);
  const plain = beginning.toWellFormed().replace(INVISIBLE, '').normalize('NFKC');
  return folded(plain.replace(INVISIBLE, '').replace(/[’‘ʼ]/g, "'")).slice(0, most);
}

/** The text with `http` for each link and `@user` for each name, as the models know it. */
export function withoutNames(text: string): string {
  const unlinked = text.includes('://') || /www\./i.test(text) ? text.replace(LINK, 'http') : text;
  return unlinked.includes('@') ? unlinked.replace(HANDLE, '@user') : unlinked;
}

/** Title and text as one text, where both are the author's words. */
export function authorsWords(item: { title: string; text: string; titleOfParent: boolean }): string {
  const text = normalised(item.text);
  const title = item.titleOfParent ? '' : normalised(item.title, MOST_TITLE_CHARACTERS);
  if (title === '' || text.startsWith(title.replace(/(?:\.\.\.)$/, ''))) return text;
  return text === '' ? title : `${title} — ${text}`;
}

/** Lower case of the same length, so that places in it are places in the text. */
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
