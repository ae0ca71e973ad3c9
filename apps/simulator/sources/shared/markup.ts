/** Replaces `&`, `<` and `>` by entities, like Reddit without `raw_json=1`, and like XML writers. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Like `escapeMarkup`, but also escapes double quotes, for attributes. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(text).replaceAll('"', '&quot;');
}

/**
 * Returns the text in Hacker News' format: entities for quotes and slashes, `<p>` between paragraphs, links as HTML.
 */
export function hackerNewsHtml(text: string): string {
  const escape = (plain: string) =>
    escapeMarkup(plain).replaceAll('"', '&quot;').replaceAll("'", '&#x27;').replaceAll('/', '&#x2F;');
  const linked = (paragraph: string) =>
    paragraph
      .split(/(https?:\/\/\S+)/)
      .map((part, i) => {
        if (i % 2 === 0) return escape(part);
        // The visible text of a long link is cut; its address is complete.
        const shown = part.length > 60 ? `${part.slice(0, 57)}...` : part;
        return `<a href="${escape(part)}" rel="nofollow">${escape(shown)}</a>`;
      })
      .join('');
  return text
    .split(/\n{2,}/)
    .map(linked)
    .join('<p>');
}

/** Returns the paragraphs of a plain text as HTML. */
export function paragraphsHtml(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${escapeMarkup(paragraph)}</p>`)
    .join('\n\n');
}
