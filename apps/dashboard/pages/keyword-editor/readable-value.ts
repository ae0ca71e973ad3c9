import { words } from '../../parts/format.js';

/** Returns the name of a value that has a name, such as the id of a channel; undefined for any other value. */
export type NameOf = (key: string, value: string) => string | undefined;

/** Returns the value of a key as text for people: one line for each entry, names instead of ids, no empty values. */
export function readableValue(key: string, value: unknown, nameOf: NameOf): string {
  const lines = Array.isArray(value)
    ? value.flatMap((entry) => linesOf(key, entry, nameOf))
    : linesOf(key, value, nameOf);
  return lines.length > 0 ? lines.join('\n') : 'none';
}

/** Returns the label of a key: “Refresh interval seconds” for `refreshIntervalSeconds`, “Channels” for `channelIds`. */
export const labelOf = (key: string) =>
  words(key.replace(/Id(s?)$/, '$1').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

function linesOf(key: string, value: unknown, nameOf: NameOf): string[] {
  if (isEmpty(value)) return [];
  if (!isObject(value)) return [textOf(key, value, nameOf)];
  const entries = Object.entries(value).filter(([name, part]) => name !== 'id' && !isEmpty(part));
  const first = entries
    .filter(([, part]) => !isNested(part))
    .map(([name, part]) => `${labelOf(name)}: ${joined(name, part, nameOf)}`);
  const rest = entries
    .filter(([, part]) => isNested(part))
    .flatMap(([name, part]) => [`${labelOf(name)}:`, ...indented(name, part, nameOf)]);
  return [...(first.length > 0 ? [first.join(', ')] : []), ...rest.map((line) => `  ${line}`)];
}

function indented(key: string, value: unknown, nameOf: NameOf): string[] {
  const entries = Array.isArray(value) ? (value as unknown[]) : [value];
  return entries.flatMap((entry) => linesOf(key, entry, nameOf)).map((line) => `  ${line}`);
}

function joined(key: string, value: unknown, nameOf: NameOf): string {
  const parts = Array.isArray(value) ? (value as unknown[]) : [value];
  return parts.map((part) => textOf(key, part, nameOf)).join(' | ');
}

function textOf(key: string, value: unknown, nameOf: NameOf): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = String(value);
  return nameOf(key, text) ?? text;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns whether a value needs a separate line. */
const isNested = (value: unknown) => isObject(value) && (!Array.isArray(value) || value.some(isObject));

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (isObject(value) && Object.keys(value).length === 0);
