import { Refusal } from '#kernel';

/** Levels of a body, its own being the first. */
export const MOST_LEVELS = 32;
/** Elements of one list, and keys of one object. Far more than any key of the interface takes. */
export const MOST_ELEMENTS = 1000;
/** Values in a body, those inside of lists and objects among them. */
export const MOST_VALUES = 8000;

/** A list or an object that the scan is in. */
interface Open {
  isList: boolean;
  /** Elements or keys so far; the one that is being read is counted. */
  width: number;
  /** Where the key that is being read begins and ends in the text, quotes included. */
  keyFrom: number;
  keyTo: number;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const LIST = 91;
const BACKSLASH = 92;
const LIST_END = 93;
const OBJECT = 123;
const OBJECT_END = 125;

/**
 * Refuses JSON text that nests too deep or holds too much, without parsing it: half a million nested lists take the
 * parser longer than a request may take. Text that is no JSON is not refused here.
 * @throws Refusal `invalid` `VALIDATION` that names the list or object, in the sender's spelling
 */
export function refuseOversizeJson(text: string): void {
  const open: Open[] = [];
  let at: Open | undefined;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const from = index;
        index = endOfString(text, index);
        if (at && !at.isList && text.charCodeAt(afterSpace(text, index + 1)) === COLON) {
          at.keyFrom = from;
          at.keyTo = index;
        }
        break;
      }
      case LIST:
      case OBJECT: {
        const isList = text.charCodeAt(index) === LIST;
        at = { isList, width: 1, keyFrom: 0, keyTo: -1 };
        if (open.push(at) > MOST_LEVELS) throw refusal('', `is nested deeper than ${MOST_LEVELS} levels`);
        values += 1;
        break;
      }
      case LIST_END:
      case OBJECT_END:
        open.pop();
        at = open.at(-1);
        break;
      case COMMA:
        values += 1;
        if (at && (at.width += 1) > MOST_ELEMENTS) throw tooWide(text, open, at);
        break;
    }
    if (values > MOST_VALUES)
      throw refusal('', `holds more than ${MOST_VALUES} values, which is the most of one request`);
  }
}

/** The index of the closing quote, or the text's length where there is none. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function afterSpace(text: string, from: number): number {
  let index = from;
  while (' \t\r\n'.includes(text.charAt(index)) && index < text.length) index += 1;
  return index;
}

function tooWide(text: string, open: readonly Open[], { isList }: Open): Refusal {
  const path = open.slice(0, -1).reduce((above, level) => {
    if (level.isList) return `${above}[${level.width - 1}]`;
    const key = keyOf(text, level);
    return above === '' ? key : `${above}.${key}`;
  }, '');
  const [what, kind] = isList ? ['elements', 'a list'] : ['keys', 'an object'];
  return refusal(path, `holds more than ${MOST_ELEMENTS} ${what}, which is the most of ${kind}`);
}

function keyOf(text: string, { keyFrom, keyTo }: Open): string {
  try {
    return String(JSON.parse(text.slice(keyFrom, keyTo + 1)));
  } catch {
    return '';
  }
}

function refusal(path: string, message: string): Refusal {
  return Refusal.validation([{ path, message }]);
}
