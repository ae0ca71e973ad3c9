import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import type { SourceId } from '#contracts';
import { checkout } from '#testing';
import { UpstreamError, type Fetched } from '../source.js';

// Only for specs: real responses of upstreams, stored beside the checkout and never copied into it.
const RECORDED = new URL('../shared/upstream/', checkout);
const NOT_AN_ANSWER = new Set(['SOURCE.md', 'http-meta.json']);

/** One recorded answer. */
export interface Recorded {
  file: string;
  bytes: Buffer;
  /** From the wrapper object of an answer that was not JSON, otherwise from http-meta.json, otherwise 200. */
  status: number;
  headers: Record<string, string>;
  requestUrl: string | undefined;
}

/** The expected result of reading one recorded response. */
export type Outcome = (
  | ((Nothing | All | Many) & { warnings?: string[]; gap?: true })
  | { error: string; reason?: string; retryAfterMs?: number }
) & {
  /** Why Earshot never requests such a response. The spec reads it anyway. */
  notPolled?: string;
};

interface Nothing {
  items: 0;
}

/** The outcome with few items: all ids in order. */
interface All {
  items: number;
  ids: readonly string[];
}

/** The outcome with many items: the first id, the last id, and a digest of all ids (see `digestOf`). */
interface Many {
  items: number;
  first: string;
  last: string;
  digest: string;
}

/** The result of a connector, or only of its parser. */
export type Reading = Pick<Fetched, 'items' | 'warnings'> & Partial<Fetched>;

/**
 * Reads every recorded answer of a source and compares the outcome exactly. The spec fails if a file is missing in the
 * table. `read` returns or throws the same as a connector.
 * @param shownId shortens the ids in the table, if they should not be shown completely; digests use the complete ids
 */
export function describeRecorded(
  source: SourceId,
  table: Readonly<Record<string, Outcome>>,
  read: (recorded: Recorded) => Promise<Reading>,
  shownId: (itemId: string) => string = (itemId) => itemId,
): void {
  const folder = new URL(`${source}/`, RECORDED);
  if (!existsSync(folder)) {
    describe.skip(`recorded answers of ${source} (skipped: no shared/upstream/${source} beside the checkout)`, () => {
      it('are read', () => undefined);
    });
    return;
  }
  describe(`recorded answers of ${source}`, () => {
    it('are all in the table', () => {
      const files = readdirSync(folder).filter((file) => !NOT_AN_ANSWER.has(file));
      expect(Object.keys(table).sort()).toEqual(files.sort());
    });
    it.each(Object.entries(table))('are read as the table states: %s', async (file, expected) => {
      expect(await outcomeOf(read(recordedOf(folder, file)), expected, shownId)).toEqual(expected);
    });
  });
}

/** Returns one recorded response, for a spec with further checks; undefined if there are no recordings. */
export function recordedAnswer(source: SourceId, file: string): Recorded | undefined {
  const folder = new URL(`${source}/`, RECORDED);
  return existsSync(new URL(file, folder)) ? recordedOf(folder, file) : undefined;
}

/** Returns the first twelve hex digits of the SHA-256 of the ids, in order, each on a line. */
function digestOf(itemIds: readonly string[]): string {
  return createHash('sha256').update(itemIds.join('\n')).digest('hex').slice(0, 12);
}

async function outcomeOf(
  reading: Promise<Reading>,
  expected: Outcome,
  shownId: (itemId: string) => string,
): Promise<Outcome> {
  const notPolled = expected.notPolled === undefined ? {} : { notPolled: expected.notPolled };
  try {
    const { items, warnings, gap } = await reading;
    const itemIds = items.map(({ itemId }) => itemId);
    return {
      ...notPolled,
      ...foundOf(itemIds, 'ids' in expected, shownId),
      ...(gap && { gap }),
      ...(('warnings' in expected || warnings.length > 0) && { warnings }),
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return {
      ...notPolled,
      error: error.kind,
      ...('reason' in expected && { reason: error.message }),
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    };
  }
}

function foundOf(itemIds: readonly string[], each: boolean, shownId: (itemId: string) => string) {
  const [first, last] = [itemIds[0], itemIds.at(-1)];
  if (first === undefined || last === undefined) return { items: 0 } satisfies Nothing;
  const items = itemIds.length;
  if (each) return { items, ids: itemIds.map(shownId) };
  return { items, first: shownId(first), last: shownId(last), digest: digestOf(itemIds) };
}

function recordedOf(folder: URL, file: string): Recorded {
  const bytes = readFileSync(new URL(file, folder));
  const wrapped = wrapperOf(bytes);
  const metaFile = new URL('http-meta.json', folder);
  const metas = existsSync(metaFile) ? (JSON.parse(readFileSync(metaFile, 'utf8')) as Meta[]) : [];
  const meta = metas.find((one) => one.file === file);
  const headers = Object.entries(wrapped?.headers ?? meta?.headers ?? {});
  return {
    file,
    bytes: wrapped ? Buffer.from(wrapped.bodyText) : bytes,
    status: wrapped?.status ?? meta?.status ?? 200,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    requestUrl: meta?.request.url ?? undefined,
  };
}

interface Meta {
  file: string;
  status: number;
  headers: Record<string, string>;
  request: { url: string | null };
}

interface Wrapper {
  status: number;
  headers: Record<string, string>;
  bodyText: string;
}

// Bodies that are not JSON are stored in an object with three keys. In responses of GitHub, `bodyText` is only a nested
// key.
function wrapperOf(bytes: Buffer): Wrapper | undefined {
  const text = bytes.toString('utf8');
  if (!text.trimStart().startsWith('{') || !text.includes('"bodyText"')) return undefined;
  const wrapper = JSON.parse(text) as Partial<Wrapper>;
  return typeof wrapper.bodyText === 'string' ? (wrapper as Wrapper) : undefined;
}
