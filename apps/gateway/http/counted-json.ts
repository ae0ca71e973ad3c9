import { Refusal } from '#kernel';

/** Maximum number of nested levels in a body. The body itself is level 1. */
export const MAX_LEVELS = 32;
/** Maximum number of elements of a list, and of keys of an object. No body of the interface needs so many. */
export const MAX_ELEMENTS = 1000;
/**
 * Maximum number of values in a body, including the values inside lists and objects. An empty list or object counts as
 * if it had one element.
 */
export const MAX_VALUES = 8000;

/** A list or an object whose end the scan has not reached. */
interface OpenLevel {
  isList: boolean;
  /** Number of elements or keys that the scan has reached, including the present one. */
  width: number;
  /** Start and end of the current key in the text, including its quotes. */
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
 * Refuses JSON text that is nested too deeply or contains too many values. Counts levels and values in the text, before
 * the text is parsed, because other code reads the parsed body recursively. The call stack would overflow if the body had
 * too many levels. Does not check whether the text is JSON.
 * @throws Refusal `invalid` `VALIDATION`. If a single list or object is too large, the fault contains the path of this
 *   list or object, with the keys as the sender wrote them
 */
export function refuseOversizeJson(text: string): void {
  const open: OpenLevel[] = [];
  let at: OpenLevel | undefined;
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
        if (open.push(at) > MAX_LEVELS) throw refusal('', `is nested deeper than ${MAX_LEVELS} levels`);
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
        if (at && (at.width += 1) > MAX_ELEMENTS) throw tooWide(text, open, at);
        break;
    }
    if (values > MAX_VALUES)
      throw refusal('', `has more than ${MAX_VALUES} values, the maximum of one request`);
  }
}

/** Returns the index of the closing quote, or the length of the text if there is none. */
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

function tooWide(text: string, open: readonly OpenLevel[], { isList }: OpenLevel): Refusal {
  const path = open.slice(0, -1).reduce((above, level) => {
    if (level.isList) return `${above}[${level.width - 1}]`;
    const key = keyOf(text, level);
    return above === '' ? key : `${above}.${key}`;
  }, '');
  const [what, kind] = isList ? ['elements', 'a list'] : ['keys', 'an object'];
  return refusal(path, `has more than ${MAX_ELEMENTS} ${what}, the maximum of ${kind}`);
}

function keyOf(text: string, { keyFrom, keyTo }: OpenLevel): string {
  try {
    return String(JSON.parse(text.slice(keyFrom, keyTo + 1)));
  } catch {
    return '';
  }
}

function refusal(path: string, message: string): Refusal {
  return Refusal.validation([{ path, message }]);
}
