import { Fragment } from 'react';

/** A part of a text, in UTF-16 code units. */
export interface Span {
  start: number;
  end: number;
}

/** Where terms occur in a text, in any case; longer terms win. */
export function spansOf(text: string, terms: readonly string[]): Span[] {
  const lower = text.toLowerCase();
  // Lowering can change the length of a text (İ), and then no place in it is known.
  if (lower.length !== text.length) return [];
  const found: Span[] = [];
  for (const term of [...terms].sort((a, b) => b.length - a.length)) {
    const wanted = term.toLowerCase();
    if (wanted === '') continue;
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length))
      found.push({ start: at, end: at + wanted.length });
  }
  return found;
}

/** The text with the spans marked. It is text in every case: nothing in it is HTML. */
export function MarkedText({ text, spans }: { text: string; spans: readonly Span[] }) {
  const parts = [];
  let at = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < at || end > text.length) continue;
    parts.push(
      <Breakable key={at} text={text.slice(at, start)} />,
      <mark key={`m${start}`}>
        <Breakable text={text.slice(start, end)} />
      </mark>,
    );
    at = end;
  }
  return (
    <>
      {parts}
      <Breakable text={text.slice(at)} />
    </>
  );
}

/** A browser needs ten seconds and more for the layout of a word of 64 KiB, and no time for its parts. */
const LONG_WORD = /(\S{500})(?=\S)/u;

function Breakable({ text }: { text: string }) {
  return text
    .split(LONG_WORD)
    .filter((part) => part !== '')
    .map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ));
}
