import { InvalidArgumentError } from 'commander';
import { isId, isoOf, Refusal } from '#kernel';

/** One line of JSON on standard output. */
export function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** @throws InvalidArgumentError for what is no UUID */
export function id(text: string): string {
  if (!isId(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}

/** @throws InvalidArgumentError for what is no whole number above 0 */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** In the one spelling of a time. @throws InvalidArgumentError for what is no ISO 8601 date-time */
export function instant(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('It must be ISO 8601.');
  return isoOf(at);
}

/** The output of the command line for a failure: each faulty option on a separate line, else the message. */
export function failureText(error: unknown): string {
  const faults = error instanceof Refusal ? (error.details ?? []) : [];
  if (faults.length > 0)
    return faults
      .map(({ path, message }) => (path === '' ? message : `--${path.replaceAll('_', '-')}: ${message}`))
      .join('\n');
  return error instanceof Error ? error.message : String(error);
}
