import { Fragment } from 'react';

/** A part of a text, in UTF-16 code units. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Returns the positions of terms in a text; upper and lower case are equal. The positions of different terms can
 * overlap.
 */
export function spansOf(text: string, terms: readonly string[]): Span[] {
  const lower = text.toLowerCase();
  // The conversion to lower case can change the length of a text (İ). Then the positions cannot be found.
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

/**
 * Shows a text whose spans are marked. If spans overlap, the span that starts first is marked; if spans start together,
 * the longest span is marked. No part of the text is treated as HTML.
 */
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

/**
 * A browser needs at least ten seconds for the layout of a word of 64 KiB, but almost no time if the word is split into
 * parts.
 */
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
