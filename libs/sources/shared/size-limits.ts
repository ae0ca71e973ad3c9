import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ObservationSchema } from '#contracts';

type ObservationInit = MessageInitShape<typeof ObservationSchema>;

/** Maximum size of a title, in bytes of UTF-8. */
export const TITLE_BYTES = 1024;
/** Maximum size of a text field, in bytes of UTF-8. */
export const TEXT_BYTES = 64 * 1024;
/** Maximum size of an item's body, as JSON. An event contains it twice and must fit into one message of 1 MiB. */
export const BODY_BYTES = 192 * 1024;

/** Limits of a JSON value. */
interface JsonLimits {
  /** Maximum bytes of a string at the top level. */
  topBytes: number;
  /** Maximum bytes of a nested string. */
  nestedBytes: number;
  /** Maximum number of entries of a list and keys of an object. */
  entries: number;
}

const MIN_LIMITS: JsonLimits = { topBytes: 2048, nestedBytes: 256, entries: 10 };
/** The first stage does not change typical values. */
const STAGES: readonly JsonLimits[] = [
  { topBytes: TEXT_BYTES, nestedBytes: 8192, entries: 100 },
  { topBytes: 16_384, nestedBytes: 1024, entries: 50 },
  MIN_LIMITS,
];
const MAX_DEPTH = 6;
const KEY_BYTES = 256;
/** In UTF-16 units. `cutText` can cut a longer character; nearly all characters are shorter. */
const WIDEST_CHARACTER = 64;

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' });
const encoder = new TextEncoder();

/** Cuts the text to `maxBytes` of UTF-8, but not inside a character. Halves of surrogate pairs become U+FFFD. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text.toWellFormed();
  const { read: end } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  const from = Math.max(0, end - WIDEST_CHARACTER);
  const around = characters.segment(text.slice(from, end + WIDEST_CHARACTER)).containing(end - from);
  const start = from + (around?.index ?? end - from);
  return text.slice(0, start > from ? start : end).toWellFormed();
}

/** A JSON object after cutting. */
export interface CutJson<Value> {
  value: Value;
  json: string;
  /** True if something was removed or shortened. */
  cut: boolean;
}

/**
 * Cuts a JSON object to `BODY_BYTES`. It shortens long strings, lists and objects, and removes deep nesting and long
 * keys. A string with the key `title` has the limit of titles at any depth. If the object is still too large, its lists
 * and nested objects are removed.
 */
export function cutJson<Value extends object>(value: Value): CutJson<Value> {
  for (const limits of STAGES) {
    const result = cutWith(limits, value);
    if (Buffer.byteLength(result.json) <= BODY_BYTES) return result;
  }
  // This happens only with deeply nested lists or objects, which no known upstream sends.
  const flat = Object.fromEntries(
    Object.entries(value).filter(([, one]) => one === null || typeof one !== 'object'),
  );
  return { ...cutWith(MIN_LIMITS, flat as Value), cut: true };
}

function cutWith<Value extends object>(limits: JsonLimits, value: Value): CutJson<Value> {
  const cutter = new JsonCutter(limits);
  const kept = cutter.object(value, 0) as Value;
  return { value: kept, json: JSON.stringify(kept), cut: cutter.cut };
}

/** Cuts an observation to the limits of an item's body. */
export function cutObservation(observation: ObservationInit): ObservationInit {
  const { kind } = observation;
  if (!kind?.value) return observation;
  return { kind: { case: kind.case, value: cutJson(kind.value).value } as ObservationInit['kind'] };
}

class JsonCutter {
  cut = false;

  constructor(private readonly limits: JsonLimits) {}

  object(value: object, depth: number): object {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    const kept = entries.slice(0, this.limits.entries).filter(([key]) => Buffer.byteLength(key) <= KEY_BYTES);
    this.cut ||= kept.length < entries.length;
    return Object.fromEntries(
      kept.map(([key, one]) => [key.toWellFormed(), this.value(one, depth + 1, key)]),
    );
  }

  private value(value: unknown, depth: number, key: string): unknown {
    if (typeof value === 'string') return this.text(value, this.bytesOf(depth, key));
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) {
      this.cut = true;
      return null;
    }
    if (!Array.isArray(value)) return this.object(value, depth);
    this.cut ||= value.length > this.limits.entries;
    return value.slice(0, this.limits.entries).map((one) => this.value(one, depth + 1, key));
  }

  private bytesOf(depth: number, key: string): number {
    if (key === 'title') return TITLE_BYTES;
    return depth === 1 ? this.limits.topBytes : this.limits.nestedBytes;
  }

  private text(text: string, maxBytes: number): string {
    const kept = cutText(text, maxBytes);
    this.cut ||= kept.length < text.length;
    return kept;
  }
}
