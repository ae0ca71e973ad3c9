import type { SourceId } from '#contracts';
import { UpstreamError, type SourceItem } from '../source.js';

/** A JSON object of unknown content. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Returns the value as an object, or undefined (also for lists and null). */
export function recordOf(value: unknown): JsonRecord | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonRecord)
    : undefined;
}

/** Returns the value as a list, or undefined. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Returns the value without characters that stores refuse, or undefined if it is blank or not a text. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = cleanText(value);
  return text.trim() === '' ? undefined : text;
}

/** Returns the value as a finite number, or undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Returns the value as a whole number within the limits of int32, or undefined if it is not a number. */
export function countOf(value: unknown): number | undefined {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  return Math.max(-2_147_483_648, Math.min(2_147_483_647, Math.trunc(number)));
}

/** Returns epoch seconds as ISO 8601, or undefined if the value is not a time after 1970-01-01T00:00:00Z. */
export function isoOfSeconds(value: unknown): string | undefined {
  const seconds = numberOf(value);
  return seconds === undefined || seconds <= 0 ? undefined : isoOfMs(seconds * 1000);
}

/** Converts an ISO 8601 text with any offset to ISO 8601 UTC. Returns undefined for a value that is not such a time. */
export function isoOfText(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? isoOfMs(Date.parse(value)) : undefined;
}

function isoOfMs(ms: number): string | undefined {
  // Years with five digits would break the ISO form, which is used for sorting.
  return ms > -62_135_596_800_000 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : undefined;
}

/**
 * Removes characters that stores refuse: NUL (Postgres does not accept it) and halves of surrogate pairs, which cannot
 * be encoded in UTF-8. Also removes the other ASCII control characters, except tab, line feed and carriage return.
 */
export function cleanText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\p{Surrogate}/gu, '');
}

/** Returns the error for a response that was parsed but has an unexpected structure. */
export function unknownShape(source: SourceId, expected: string): UpstreamError {
  return new UpstreamError(
    'unknown_shape',
    `${source} answered in an unknown shape: expected ${expected}`,
    200,
  );
}

/**
 * The result of one entry of a response. `malformed`: the entry cannot be read. `leftOut`: it is left out on purpose. Both
 * contain the reason for a warning, for example `rss: 3 of 20 items left out: <reason>`.
 */
export type Reading<Read = SourceItem> = { item: Read } | { malformed: string } | { leftOut: string };

/**
 * Maximum number of entries that are read from one response. No real upstream sends this many; further entries are
 * ignored.
 */
export const MAX_ENTRIES = 10_000;

/**
 * Reads at most the first 10,000 entries, and returns each item once. `warnings` counts the entries that cannot be
 * read or are left out.
 * @throws UpstreamError `unknown_shape` if there are entries and every entry that was read is malformed
 */
export function readEntries<Entry>(
  source: SourceId,
  entries: readonly Entry[],
  read: (entry: Entry) => Reading,
): { items: SourceItem[]; warnings: string[] };
export function readEntries<Entry, Read extends { itemId: string }>(
  source: SourceId,
  entries: readonly Entry[],
  read: (entry: Entry) => Reading<Read>,
): { items: Read[]; warnings: string[] };
export function readEntries<Entry, Read extends { itemId: string }>(
  source: SourceId,
  entries: readonly Entry[],
  read: (entry: Entry) => Reading<Read>,
): { items: Read[]; warnings: string[] } {
  const items = new Map<string, Read>();
  const notes = new Map<string, number>();
  let malformed = 0;
  const beyond = entries.length - MAX_ENTRIES;
  if (beyond > 0) notes.set(`left out: Earshot reads at most ${MAX_ENTRIES} items of one answer`, beyond);
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    const reading = attempt(read, entry);
    if ('item' in reading) {
      if (!items.has(reading.item.itemId)) items.set(reading.item.itemId, reading.item);
      continue;
    }
    if ('malformed' in reading) malformed += 1;
    const note =
      'malformed' in reading ? `could not be read: ${reading.malformed}` : `left out: ${reading.leftOut}`;
    notes.set(note, (notes.get(note) ?? 0) + 1);
  }
  const warnings = [...notes].map(
    ([note, count]) => `${source}: ${count} of ${entries.length} items ${note}`,
  );
  if (malformed > 0 && malformed === Math.min(entries.length, MAX_ENTRIES)) {
    throw unknownShape(source, `items that can be read; ${warnings.join('; ')}`);
  }
  return { items: [...items.values()], warnings };
}

// An unexpected error in one entry must not affect the other entries.
function attempt<Entry, Read>(read: (entry: Entry) => Reading<Read>, entry: Entry): Reading<Read> {
  try {
    return read(entry);
  } catch {
    return { malformed: 'its shape is unknown' };
  }
}
