import { readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { escapeHtml } from '../http/html-page.js';

/** The folder of the checkout, found relative to the compiled file. */
const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Pages outside of docs/ that guides refer to. */
export const OTHER_PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'deploy/README.md',
  'bench/README.md',
  'examples/receivers/README.md',
];

/** A guide as HTML. */
export interface Guide {
  title: string;
  html: string;
}

/** A group of the navigation. */
export interface GuideGroup {
  title: string;
  guides: { address: string; title: string }[];
}

/**
 * The guides of docs/ and `OTHER_PAGES`, by their address: `docs/api.md` is `/docs/api`, `docs/README.md` is `/docs`.
 * Only files that exist when the gateway starts are served. HTML inside a guide is shown as text.
 */
export class Guides {
  private readonly files: ReadonlyMap<string, string>;
  private readonly images: ReadonlySet<string>;
  private readonly rendered = new Map<string, Guide>();
  readonly groups: readonly GuideGroup[];

  constructor(private readonly checkout = CHECKOUT) {
    const names = namesIn(`${checkout}docs`).map((name) => `docs/${name}`);
    const pages = [
      ...names.filter((name) => name.endsWith('.md')),
      ...OTHER_PAGES.filter((name) => this.text(name)),
    ];
    this.files = new Map(pages.map((name) => [addressOf(name), name]));
    this.images = new Set(names.filter((name) => /\.(png|svg|webp)$/.test(name)));
    this.groups = this.grouped();
  }

  /**
   * @param address for example `/docs/api`
   * @returns undefined if there is no such guide
   */
  guide(address: string): Guide | undefined {
    const name = this.files.get(address);
    if (name === undefined) return undefined;
    const known = this.rendered.get(name) ?? this.render(name);
    this.rendered.set(name, known);
    return known;
  }

  /**
   * @param name path below docs/, for example `images/tour-live.webp`
   * @returns undefined if there is no such image
   */
  image(name: string): Buffer | undefined {
    return this.images.has(`docs/${name}`) ? readFileSync(`${this.checkout}docs/${name}`) : undefined;
  }

  private render(name: string): Guide {
    const markdown = new MarkdownIt({ html: false });
    markdown.renderer.rules['heading_open'] = (tokens, index) => {
      const text = tokens[index + 1]?.content ?? '';
      return `<${tokens[index]?.tag} id="${escapeHtml(slugOf(text))}">`;
    };
    const { validateLink } = markdown;
    markdown.validateLink = (address) => validateLink(address) && /^(https?:|mailto:|#|[^:]*$)/.test(address);
    markdown.normalizeLink = (address) => this.target(address, name);
    // A link cannot contain another link, so each end belongs to the link that began last.
    let leadsSomewhere = true;
    markdown.renderer.rules['link_open'] = (tokens, index, options, _env, renderer) => {
      leadsSomewhere = tokens[index]?.attrGet('href') !== '';
      return leadsSomewhere ? renderer.renderToken(tokens, index, options) : '';
    };
    markdown.renderer.rules['link_close'] = () => (leadsSomewhere ? '</a>' : '');
    // A table that is wider than the page scrolls inside its own element.
    markdown.renderer.rules['table_open'] = () =>
      '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>';
    markdown.renderer.rules['table_close'] = () => '</table></div>';
    const text = this.text(name) ?? '';
    return { title: titleOf(text, name), html: markdown.render(text) };
  }

  /**
   * Converts a link to a guide or an image into a link to its address in the gateway. Returns an empty text for any
   * other file or folder, because the gateway does not serve it: only the text of such a link is shown.
   */
  private target(address: string, from: string): string {
    if (/^(https?:|mailto:|#)/.test(address)) return address;
    const [path = '', fragment] = address.split('#');
    const file = posix.normalize(posix.join(dirname(from), path));
    const hash = fragment === undefined ? '' : `#${fragment}`;
    if (this.images.has(file)) return `/docs/files/${file.slice('docs/'.length)}`;
    const page = addressOf(file);
    return this.files.has(page) ? page + hash : '';
  }

  private grouped(): GuideGroup[] {
    const of = (title: string, belongs: (address: string) => boolean): GuideGroup => ({
      title,
      guides: [...this.files]
        .filter(([address]) => belongs(address))
        .map(([address, name]) => ({ address, title: titleOf(this.text(name) ?? '', name) }))
        .sort((a, b) => a.address.localeCompare(b.address)),
    });
    const isIn = (folder: string) => (address: string) => address.startsWith(`/docs/${folder}/`);
    const isGuide = (address: string) => /^\/docs(\/[^/]+)?$/.test(address) || isIn('examples')(address);
    return [of('Guides', isGuide), of('Sources', isIn('sources')), of('Decisions', isIn('adr'))];
  }

  private text(name: string): string | undefined {
    try {
      return readFileSync(`${this.checkout}${name}`, 'utf8');
    } catch {
      return undefined;
    }
  }
}

/**
 * Returns the address of a guide: `/docs/sources/x` for `docs/sources/x.md`, `/docs` for `docs/README.md`,
 * `/docs/deploy` for `deploy/README.md`, `/docs/overview` for `README.md`.
 */
function addressOf(name: string): string {
  const inDocs = name.replace(/^docs(\/|$)/, '').replace(/\.md$/, '');
  if (name === 'README.md') return '/docs/overview';
  const path = inDocs.replace(/(^|\/)README$/, '');
  return path === '' ? '/docs' : `/docs/${path}`;
}

function titleOf(text: string, name: string): string {
  return /^#\s+(.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name;
}

/** Returns the id that GitHub gives a heading, because the guides' links use these ids. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return entries.map((name) => name.replaceAll('\\', '/'));
  } catch {
    return [];
  }
}
