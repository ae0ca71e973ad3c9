/**
 * The content of a message, as plain text. The texts come from strangers and can look like markup, so each renderer
 * escapes them for its format.
 */
export interface Message {
  /** One line: the subject of a mail, the head of a chat message. */
  title: string;
  sections: readonly Section[];
  /** Number of entries that are left out; 0 if none. */
  more: number;
  link: Link | null;
  /** One line. */
  footer: string;
  /** Shown only by kinds of channels that can send pictures. */
  charts?: readonly Chart[];
}

/** Figures for a drawing. `days`: two bars for each day. `shares`: one bar with a part for each name. */
export type Chart =
  | { kind: 'days'; title: string; days: readonly { label: string; count: number; previous: number }[] }
  | { kind: 'shares'; title: string; shares: Readonly<Record<string, number>> };

/** A part of a message: a heading, lines of text, and entries. */
export interface Section {
  heading: string;
  lines: readonly string[];
  entries: readonly Entry[];
}

/** A mention or another text with a link, in a section. */
export interface Entry {
  title: string;
  /** http or https; null if there is none. */
  url: string | null;
  text: string;
  /** Details in one line, for example author, community and readings. */
  meta: string;
}

/** A link with its text. */
export interface Link {
  label: string;
  url: string;
}

/**
 * U+2060: invisible and without width. It is put inside a name or a command, so that a chat service does not recognise
 * the name or the command.
 */
const WORD_JOINER = '\u2060';
const ELLIPSIS = '…';
const MAX_URL_LENGTH = 2000;

/**
 * Returns an untrusted text without control characters and without characters that change the direction of the
 * surrounding text. Line breaks stay, but at most two follow each other, and none are at the beginning or the end.
 */
export function plain(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?/g, '\n')
      // oxlint-disable-next-line no-control-regex -- these characters are removed
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g, ' ')
      .replace(/[ \t]+/g, ' ')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  );
}

/** Returns an untrusted text like `plain`, in one line. */
export function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, ' ');
}

/** Cuts a text to a number of UTF-16 units, never inside a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  // Only the character at the cut is examined: a loop over all characters takes longer than rendering the message.
  const end = GRAPHEMES.segment(text.slice(0, max * 2)).containing(max - ELLIPSIS.length)?.index;
  return `${text.slice(0, end).trimEnd()}${ELLIPSIS}`;
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Inserts an invisible character after the `@` of every `@name`, and after each `<` that can begin a tag or a command,
 * such as `<!…>`, `<@…>` or `<#…>`. So no chat service notifies a person because of these. Returns the new text.
 */
export function withoutPings(text: string): string {
  return text
    .replace(/@(?=[\p{L}\p{N}_])/gu, `@${WORD_JOINER}`)
    .replace(/<(?=[!@#/a-z])/gi, `<${WORD_JOINER}`);
}

/** Returns the address if it can be a link in a message (http or https, and not too long); otherwise null. */
export function linkable(url: unknown): string | null {
  if (typeof url !== 'string' || url.length > MAX_URL_LENGTH || !URL.canParse(url)) return null;
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol) || parsed.href.length > MAX_URL_LENGTH) return null;
  return parsed.href;
}

/** Returns the line about entries that are left out; empty if none are left out. */
export function moreLine(more: number): string {
  return more > 0 ? `and ${more.toLocaleString('en')} more` : '';
}

/**
 * Renders the message with as many entries as the format accepts. If not even the first entry fits, it is rendered
 * without its text, or also without its address. `more` of the rendered message is the number of all entries that are
 * left out.
 * @param fits whether the service accepts the rendered message
 */
export function fitted<T>(
  message: Message,
  render: (message: Message) => T,
  fits: (rendered: T) => boolean,
): T {
  const whole = render(message);
  if (fits(whole)) return whole;
  for (const shorter of [{}, { text: '' }, { text: '', url: null }]) {
    const shortened = withFirstEntry(message, shorter);
    const count = fittingEntries(shortened, (some) => fits(render(some)));
    if (count > 0) return render(firstEntries(shortened, count));
  }
  return render(firstEntries(message, 0));
}

/** Returns how many of the first entries fit; 0 if not even one fits. */
function fittingEntries(message: Message, fits: (message: Message) => boolean): number {
  const entries = message.sections.reduce((sum, section) => sum + section.entries.length, 0);
  let [fitting, tooMany] = [0, entries + 1];
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    if (fits(firstEntries(message, middle))) fitting = middle;
    else tooMany = middle;
  }
  return fitting;
}

/** Returns the message with changes to its first entry. */
function withFirstEntry(message: Message, changes: Partial<Entry>): Message {
  const first = message.sections.findIndex(({ entries }) => entries.length > 0);
  const changed = ({ entries: [entry, ...others], ...section }: Section): Section => ({
    ...section,
    entries: entry ? [{ ...entry, ...changes }, ...others] : [],
  });
  return {
    ...message,
    sections: message.sections.map((section, n) => (n === first ? changed(section) : section)),
  };
}

/** Returns the message with only its first entries. Sections that then have neither entries nor lines are left out. */
function firstEntries(message: Message, count: number): Message {
  let left = count;
  let dropped = 0;
  const sections: Section[] = [];
  for (const section of message.sections) {
    const entries = section.entries.slice(0, left);
    left -= entries.length;
    dropped += section.entries.length - entries.length;
    if (entries.length > 0 || section.lines.length > 0) sections.push({ ...section, entries });
  }
  return { ...message, sections, more: message.more + dropped };
}
