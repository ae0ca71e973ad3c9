import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { cleanText } from './shape.js';

// Upstreams shorten what a link shows ("https://example.com/lo..."): the text that is searched holds it whole.
const fullLink: FormatCallback = (element, walk, builder) => {
  const href: unknown = element.attribs?.['href'];
  const shown = element.children?.length === 1 ? (element.children[0]?.data ?? '') : '';
  const shortened = /^(.+?)(?:\.\.\.|…)$/.exec(shown)?.[1];
  if (typeof href === 'string' && shortened !== undefined && href.startsWith(shortened)) {
    builder.addInline(href, { noWordTransform: true });
  } else {
    walk(element.children, builder);
  }
};

const PLAIN_HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
  selector,
  options: { uppercase: false },
}));
const CELLS = ['td', 'th'].map((selector) => ({
  selector,
  format: 'block',
  options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
}));

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  formatters: { fullLink },
  selectors: [
    { selector: 'a', format: 'fullLink' },
    { selector: 'img', format: 'skip' },
    ...PLAIN_HEADINGS,
    ...CELLS,
  ],
  // Nesting beyond any real page would end in a stack overflow, and megabytes of it in a long stand-still.
  limits: { maxDepth: 200, ellipsis: '', maxInputLength: 250_000 },
};

const convert = compile(OPTIONS);

/** HTML as readable text: paragraphs kept, entities decoded, links whole, scripts and images gone. */
export function htmlToText(html: string): string {
  const text = /[<&]/.test(html) ? convert(html) : html;
  return cleanText(text)
    .replace(/[ \t\u00a0]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** HTML as one line of text: for titles. */
export function htmlToLine(html: string): string {
  return htmlToText(html).replace(/\s+/g, ' ');
}
