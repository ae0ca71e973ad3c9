import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the build writes the dashboard, relative to the compiled file. */
const BUILT = fileURLToPath(new URL('../../dashboard/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

/** The placeholder of the nonce in index.html; the build puts it there. */
const NONCE = /\bnonce="NONCE"/g;

/** A file of the dashboard as it is sent. */
export interface DashboardFile {
  bytes: Buffer;
  type: string;
  /** `br` or `gzip`; undefined if the bytes are not compressed. */
  encoding: 'br' | 'gzip' | undefined;
}

/** The built files of the dashboard. Only files that exist when the gateway starts are served. */
export class DashboardFiles {
  private readonly names: ReadonlySet<string>;
  private readonly html: string | undefined;

  constructor(private readonly folder = BUILT) {
    this.names = new Set(namesIn(folder));
    this.html = this.names.has('index.html') ? readFileSync(`${folder}/index.html`, 'utf8') : undefined;
  }

  /** The page, whose styles carry the nonce of this response. Undefined if the dashboard is not built. */
  page(nonce: string): string | undefined {
    return this.html?.replace(NONCE, `nonce="${nonce}"`);
  }

  /**
   * @param name `theme.js` or `assets/<file>`
   * @param accepted the header `accept-encoding`
   * @returns undefined if there is no such file
   */
  async file(name: string, accepted = ''): Promise<DashboardFile | undefined> {
    const type = TYPES[extname(name)];
    if (!this.names.has(name) || type === undefined) return undefined;
    const encoding = this.encodingOf(name, accepted);
    const suffix = { br: '.br', gzip: '.gz', none: '' }[encoding ?? 'none'];
    return { bytes: await readFile(`${this.folder}/${name}${suffix}`), type, encoding };
  }

  private encodingOf(name: string, accepted: string): DashboardFile['encoding'] {
    if (/\bbr\b/.test(accepted) && this.names.has(`${name}.br`)) return 'br';
    return /\bgzip\b/.test(accepted) && this.names.has(`${name}.gz`) ? 'gzip' : undefined;
  }
}

/** Names of the files, without those that begin with a dot: they are notes of the build. */
function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return entries.map((name) => name.replaceAll('\\', '/')).filter((name) => !/(^|\/)\./.test(name));
  } catch {
    return [];
  }
}
