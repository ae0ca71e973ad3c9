import { instantIn, isId, Refusal, type Fault } from '#kernel';
import { NOT_STORABLE } from './unstorable-values.js';
import { unknownKey } from './unknown-key.js';
import { dateTimeFault } from './validators.js';

/** Raw query parameters: the value of a repeated key is an array. */
export type RawQuery = Record<string, string | string[] | undefined>;

/** Maximum number of values of one key. */
const MAX_VALUES = 100;

/** Reads query parameters, collects their faults, and refuses parameters that were not read. */
export class QueryReader {
  private readonly faults: Fault[] = [];
  private readonly known = new Set<string>();

  constructor(private readonly raw: RawQuery) {}

  /** Returns all values of a key that can be repeated. */
  all<T extends string = string>(key: string, allowed?: readonly T[]): T[] {
    this.known.add(key);
    const value = this.raw[key];
    const values = value === undefined ? [] : Array.isArray(value) ? value : [value];
    if (values.length > MAX_VALUES)
      this.faults.push({ path: key, message: `can be given at most ${MAX_VALUES} times` });
    if (values.some((one) => NOT_STORABLE.test(one)))
      this.faults.push({
        path: key,
        message: 'must not contain U+0000 or an unpaired surrogate (half of a character)',
      });
    const wrong = allowed && values.find((one) => !(allowed as readonly string[]).includes(one));
    if (wrong !== undefined)
      this.faults.push({
        path: key,
        message: `must be one of ${allowed?.join(', ')}${listHint(key, wrong)}`,
      });
    return values as T[];
  }

  /** Returns the value of a key that can be given only once. */
  one<T extends string = string>(key: string, allowed?: readonly T[]): T | undefined {
    const values = this.all<T>(key, allowed);
    if (values.length > 1) this.faults.push({ path: key, message: 'can be given only once' });
    return values[0];
  }

  /** Returns an id that can be given only once, in its canonical spelling. */
  id(key: string): string | undefined {
    const text = this.one(key)?.toLowerCase();
    if (text === undefined || isId(text)) return text;
    this.fault(key, 'must be an id');
    return undefined;
  }

  integer(key: string, min: number, max: number, fallback: number): number {
    return this.optionalInteger(key, min, max) ?? fallback;
  }

  optionalInteger(key: string, min: number, max: number): number | undefined {
    const text = this.one(key);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.faults.push({ path: key, message: `must be a whole number from ${min} to ${max}` });
    return undefined;
  }

  boolean(key: string): boolean {
    return this.one(key, ['true', 'false']) === 'true';
  }

  /**
   * Reads an instant in ISO 8601 with any offset; without an offset, the text is in UTC. Returns undefined if the key
   * is absent or its value has a fault.
   */
  instant(key: string): Date | undefined {
    const text = this.one(key);
    if (text === undefined) return undefined;
    // A plus sign that was not escaped arrives as a space.
    const spelled = text.replace(/(?<=[T ].*) (\d{2}:?\d{2})$/i, '+$1');
    const message = dateTimeFault(spelled);
    if (!message) return new Date(instantIn(spelled, 'UTC'));
    this.faults.push({ path: key, message });
    return undefined;
  }

  /** Returns the two instants of a window. If both are given, the first must not be later than the second. */
  span(from: string, to: string): { from: Date | undefined; to: Date | undefined } {
    const span = { from: this.instant(from), to: this.instant(to) };
    if (span.from && span.to && span.from > span.to) this.fault(from, `must not be later than ${to}`);
    return span;
  }

  /**
   * Returns the two instants of a window. Without `from`, the window begins `defaultMs` before `to`. If `to` is absent
   * or later than now, the window begins `defaultMs` before now. The window never begins before 1970, except if `to` is
   * before 1970: then the window begins at `to`.
   */
  window(from: string, to: string, defaultMs: number): { from: Date; to: Date | undefined } {
    const { from: begin, to: end } = this.span(from, to);
    const latest = Math.min(Date.now(), end?.getTime() ?? Infinity);
    return { from: begin ?? new Date(Math.min(latest, Math.max(0, latest - defaultMs))), to: end };
  }

  /** Returns the ids of a key that can be repeated. @param what for example `a keyword` */
  ids(key: string, what: string): string[] {
    const values = this.all(key);
    const wrong = values.find((one) => !isId(one));
    if (wrong !== undefined) this.fault(key, `must be the id of ${what}${listHint(key, wrong)}`);
    return values;
  }

  fault(path: string, message: string): void {
    this.faults.push({ path, message });
  }

  /** @throws Refusal `invalid` with at most 50 faults, including unknown parameters */
  finish(): void {
    for (const key of Object.keys(this.raw))
      if (!this.known.has(key))
        this.faults.push({ path: key, message: unknownKey(key, [...this.known], 'parameter') });
    if (this.faults.length > 0) throw Refusal.validation(this.faults);
  }
}

/**
 * Returns a hint for a value with commas: each value needs its own parameter, because commas do not separate values.
 */
function listHint(key: string, value: string): string {
  const values = value.split(',', 3).map((one) => encodeURIComponent(one.trim()));
  return values.length > 1
    ? `; repeat the key for several values: ${values.map((one) => `${key}=${one}`).join('&')}`
    : '';
}
