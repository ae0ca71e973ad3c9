// If a person wrote &lt;, the escaped text contains &amp;lt;. So each escape is decoded only once.
const ESCAPE = /&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes plain text that an upstream escaped for HTML (`&amp;`, `&#39;`) and that contains no tags. */
export function unescaped(text: string): string {
  return text.replace(ESCAPE, characterOf);
}

/**
 * Returns a function that converts offsets in the escaped text, counted in code points, to offsets in the unescaped
 * text. If an offset is inside an escape such as `&amp;`, the result is the offset after the decoded character.
 */
export function unescapedOffsetsIn(text: string): (offset: number) => number {
  let [start, end] = [0, 0];
  const escapes = [...text.matchAll(ESCAPE)].map(({ index, 0: escape }) => {
    start += lengthOf(text.slice(end, index));
    end = index + escape.length;
    const found = { start, length: escape.length, kept: lengthOf(characterOf(escape)) };
    start += escape.length;
    return found;
  });
  return (offset) => {
    let shift = 0;
    for (const { start: from, length, kept } of escapes) {
      if (from >= offset) break;
      shift += Math.min(length - kept, offset - from - kept);
    }
    return offset - shift;
  };
}

function characterOf(escape: string): string {
  const name = escape.slice(1, -1).toLowerCase();
  if (!name.startsWith('#')) return NAMED[name] ?? escape;
  const code = name.startsWith('#x') ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
  const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return valid ? String.fromCodePoint(code) : escape;
}

function lengthOf(text: string): number {
  return [...text].length;
}
