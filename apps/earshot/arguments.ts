import { isISO8601 } from 'class-validator';
import { InvalidArgumentError } from 'commander';
import { instantIn, isId, isoOf, isStorableTime, Refusal } from '#kernel';

/** Prints one line of JSON on standard output. */
export function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Returns the UUID in lower case. @throws InvalidArgumentError if the text is not a UUID */
export function id(text: string): string {
  if (!isId(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}

/** Reads a number. @throws InvalidArgumentError if the text is not a whole number above 0 with at most 15 digits */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}

/**
 * Returns the canonical form of a time. A time without an offset is in UTC, as in the API.
 * @throws InvalidArgumentError if the text is not an ISO 8601 time that begins with year, month and day; `Date` also
 *   accepts other formats, for example `1`, and reads the day number in `2026-012` as a month
 */
export function instant(text: string): string {
  const isTime = /^\d{4}-\d{2}-\d{2}/.test(text) && isISO8601(text, { strict: true });
  const at = isTime ? instantIn(text, 'UTC') : Number.NaN;
  if (!isStorableTime(at))
    throw new InvalidArgumentError('It must be ISO 8601, for example 2026-12-31T00:00:00Z.');
  return isoOf(at);
}

/**
 * Returns the output of the command line for a failure: each faulty option on a separate line, otherwise the message.
 */
export function failureText(error: unknown): string {
  const faults = error instanceof Refusal ? (error.details ?? []) : [];
  if (faults.length > 0)
    return faults
      .map(({ path, message }) => (path === '' ? message : `--${path.replaceAll('_', '-')}: ${message}`))
      .join('\n');
  return error instanceof Error ? error.message : String(error);
}
