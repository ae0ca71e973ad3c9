import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { negotiate } from '@fastify/accept-negotiator';

/** The folder into which the build writes the dashboard. */
const BUILT = fileURLToPath(new URL('../../dashboard/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

const SUFFIXES = { br: '.br', gzip: '.gz', none: '' };

/** The placeholder of the nonce. The build writes this placeholder into index.html. */
const NONCE = /\bnonce="NONCE"/g;

/** A file of the dashboard in the form in which it is sent. */
export interface DashboardFile {
  bytes: Buffer;
  type: string;
  /** `br` or `gzip`; undefined if the bytes are not compressed. */
  encoding: 'br' | 'gzip' | undefined;
}

/**
 * The built files of the dashboard, as they are when the gateway starts. The files are kept in memory (about 3 MB),
 * because a new build replaces them on the disk, and the page and its scripts must come from the same build.
 */
export class DashboardFiles {
  private readonly files: ReadonlyMap<string, Buffer>;
  private readonly html: string | undefined;

  constructor(folder = BUILT) {
    this.files = filesIn(folder);
    this.html = this.files.get('index.html')?.toString();
  }

  /** Returns the page with the nonce of this response; undefined if the dashboard is not built. */
  page(nonce: string): string | undefined {
    return this.html?.replace(NONCE, `nonce="${nonce}"`);
  }

  /**
   * @param name `theme.js`, `favicon.svg` or `assets/<file>`
   * @param accepted the header `accept-encoding`
   * @returns undefined if there is no such file
   */
  file(name: string, accepted = ''): DashboardFile | undefined {
    const type = TYPES[extname(name)];
    if (type === undefined) return undefined;
    const encoding = this.encodingOf(name, accepted);
    const bytes = this.files.get(`${name}${SUFFIXES[encoding ?? 'none']}`);
    return bytes && { bytes, type, encoding };
  }

  private encodingOf(name: string, accepted: string): DashboardFile['encoding'] {
    const refused = refusedBy(accepted);
    const packed = (['br', 'gzip'] as const).filter(
      (one) => this.files.has(`${name}${SUFFIXES[one]}`) && !refused.has(one),
    );
    const chosen = negotiate(accepted, [...packed, 'identity']);
    return chosen === 'br' || chosen === 'gzip' ? chosen : undefined;
  }
}

/** Returns the encodings with the quality 0. For `br;q=0, *`, the library alone would choose br. */
function refusedBy(accepted: string): ReadonlySet<string> {
  const parts = accepted.toLowerCase().replace(/\s/g, '').split(',');
  return new Set(parts.flatMap((part) => /^([^;]+);q=0(?:\.0*)?$/.exec(part)?.[1] ?? []));
}

/**
 * Returns the files by name, without the build's own files, whose names begin with a dot. Empty if nothing is built.
 */
function filesIn(folder: string): Map<string, Buffer> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/'))
    .filter((name) => !/(^|\/)\./.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}
