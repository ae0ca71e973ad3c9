import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SourceId } from '#contracts';
import { UpstreamError, type Fetched } from './source.js';

// For specs only: answers that upstreams once gave, kept beside the checkout and never copied into it.
const RECORDED = new URL('../../../shared/upstream/', import.meta.url);
const NOT_AN_ANSWER = new Set(['SOURCE.md', 'http-meta.json']);

/** One recorded answer. */
export interface Recorded {
  file: string;
  bytes: Buffer;
  /** From http-meta.json, or from the wrapper object of an answer that was not JSON. */
  status: number;
  headers: Record<string, string>;
  requestUrl: string | undefined;
}

/** What reading one recorded answer must give. */
export type Outcome = (
  | { items: number; first?: string; last?: string; warnings?: string[]; gap?: true }
  | { error: string; reason?: string; retryAfterMs?: number }
) & {
  /** Why the service never asks for such an answer; it is read all the same. */
  notPolled?: string;
};

/** What a connector found, or its parser alone. */
export type Reading = Pick<Fetched, 'items' | 'warnings'> & Partial<Fetched>;

/**
 * Reads every recorded answer of a source and compares the outcome exactly; a file that the table does not name
 * fails. `read` may return or throw what a connector would.
 */
export function describeRecorded(
  source: SourceId,
  table: Readonly<Record<string, Outcome>>,
  read: (recorded: Recorded) => Promise<Reading>,
): void {
  const folder = new URL(`${source}/`, RECORDED);
  if (!existsSync(folder)) {
    describe.skip(`recorded answers of ${source} (skipped: no shared/upstream/${source} beside the checkout)`, () => {
      it('are read', () => undefined);
    });
    return;
  }
  describe(`recorded answers of ${source}`, () => {
    it('are all named here', () => {
      const files = readdirSync(folder).filter((file) => !NOT_AN_ANSWER.has(file));
      expect(Object.keys(table).sort()).toEqual(files.sort());
    });
    it.each(Object.entries(table))('%s', async (file, expected) => {
      expect(await outcomeOf(read(recordedOf(folder, file)), expected)).toEqual(expected);
    });
  });
}

/** One recorded answer, for a spec that looks closer; undefined where there are none. */
export function recordedAnswer(source: SourceId, file: string): Recorded | undefined {
  const folder = new URL(`${source}/`, RECORDED);
  return existsSync(new URL(file, folder)) ? recordedOf(folder, file) : undefined;
}

async function outcomeOf(reading: Promise<Reading>, expected: Outcome): Promise<Outcome> {
  const notPolled = expected.notPolled === undefined ? {} : { notPolled: expected.notPolled };
  try {
    const { items, warnings, gap } = await reading;
    return {
      ...notPolled,
      items: items.length,
      ...('first' in expected && { first: items[0]?.itemId ?? 'none' }),
      ...('last' in expected && { last: items.at(-1)?.itemId ?? 'none' }),
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

// Bodies that are not JSON are kept in an object of three keys. One of them is also a field of GitHub's.
function wrapperOf(bytes: Buffer): Wrapper | undefined {
  const text = bytes.toString('utf8');
  if (!text.trimStart().startsWith('{') || !text.includes('"bodyText"')) return undefined;
  const wrapper = JSON.parse(text) as Partial<Wrapper>;
  return typeof wrapper.bodyText === 'string' ? (wrapper as Wrapper) : undefined;
}
