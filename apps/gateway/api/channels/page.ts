import { escapeHtml as escaped } from '../../http/html-page.js';

/**
 * Returns the HTML of a small page with a title, a sentence and at most one form. The form is sent to the address of the
 * page.
 * @param title text; it is escaped, like the sentence
 */
export function page(title: string, sentence: string, form?: { button: string }): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>${escaped(title)} · Earshot</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color:#18181b}
h1{font-size:1.25rem;overflow-wrap:anywhere}button{font:inherit;padding:.6rem 1rem;border:0;border-radius:.375rem;background:#1d4ed8;color:#fff}</style>
</head><body><main><h1>${escaped(title)}</h1><p>${escaped(sentence)}</p>
${form ? `<form method="post"><button type="submit">${escaped(form.button)}</button></form>` : ''}
</main></body></html>`;
}
