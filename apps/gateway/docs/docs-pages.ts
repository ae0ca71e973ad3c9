import { escapeHtml } from '../http/html-page.js';
import type { Guide, GuideGroup } from './guides.js';

/**
 * Headers of the pages. The policy allows only style sheets and scripts of this server. A script can still set the
 * style of a single element; the viewer of the reference needs this.
 */
export const DOCS_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** Returns a guide with the navigation. */
export function guidePage(address: string, guide: Guide, groups: readonly GuideGroup[]): string {
  return page(
    guide.title,
    '',
    `<a class="skip" href="#content">Skip to the text</a>
<nav aria-label="Documentation"><p><a href="/">Earshot</a></p><ul><li><a href="/docs/reference">API reference</a></li></ul>
${groups.map((group) => groupOf(group, address)).join('\n')}</nav>
<main id="content">${guide.html}</main>`,
  );
}

/** Returns the reference of the API: the viewer reads the description in the browser. */
export function referencePage(): string {
  return page(
    'API reference',
    '<link rel="stylesheet" href="/docs/viewer/swagger-ui.css">',
    `<header><a href="/docs">All guides</a> <a href="/v1/openapi.json">OpenAPI description</a></header>
<main id="reference"></main>
<script src="/docs/viewer/swagger-ui-bundle.js"></script>
<script src="/docs/viewer/start.js"></script>`,
    'reference',
  );
}

/** Starts the viewer. The viewer sends no request to other servers. */
export const START_SCRIPT = `window.SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

/** The style sheet of the pages. */
export const STYLE = `:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
body.reference { display: block; background: #fff; color-scheme: light; }
body.reference header { padding: .75rem 1.5rem; }
nav { padding: 1rem 1.5rem; height: 100vh; overflow-y: auto; position: sticky; top: 0; box-sizing: border-box; font-size: .875rem; }
nav ul { list-style: none; padding: 0; }
nav li { padding: .125rem 0; }
nav [aria-current] { font-weight: 700; }
main { padding: 1rem 2rem 4rem; max-width: 60rem; }
body.reference main { padding: 0; max-width: none; }
.guide pre { overflow-x: auto; padding: 1rem; border-radius: .375rem; background: light-dark(#f3f4f6, #1f2430); }
code { font-size: .9em; }
.wide { overflow-x: auto; }
.guide table { border-collapse: collapse; }
.guide td, .guide th { border: 1px solid light-dark(#c9cdd4, #4b5162); padding: .375rem .625rem; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; }
.guide a, header a { color: light-dark(#0b57d0, #8ab4f8); }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: Canvas; padding: .5rem; }
@media (max-width: 48rem) { body { display: block; } nav { height: auto; position: static; } main { padding: 1rem; } }
`;

function page(title: string, head: string, body: string, kind = 'guide'): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Earshot</title><link rel="icon" href="/favicon.svg">
${head}<link rel="stylesheet" href="/docs/viewer/docs.css"></head><body class="${kind}">
${body}
</body></html>`;
}

function groupOf({ title, guides }: GuideGroup, current: string): string {
  const items = guides.map(({ address, title: name }) => {
    const attribute = address === current ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(address)}"${attribute}>${escapeHtml(name)}</a></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul>`;
}
