import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { Refusal, type Fault } from '#kernel';
import { camelKey, unconverted, toCamelCase, type CasedBody } from './casing.js';
import { refuseUnstorableValues } from './unstorable-values.js';
import { SUGGESTED_KEY, unknownKey } from './unknown-key.js';

/**
 * The accepted spelling of a body: `any` and `snake` accept snake_case and camelCase, `camel` accepts only camelCase. A
 * missing key is reported in the spelling of the other keys. If no key of the body shows a spelling, `snake` reports a
 * missing key in snake_case.
 */
export type Spelling = 'any' | 'camel' | 'snake';

/** Rules about the type of a value. If a value breaks one of these rules, its other faults are not reported. */
const TYPE_RULES = ['isArray', 'isObject', 'isString', 'isBoolean', 'isNumber', 'isInt'];

/**
 * Reads a request body into its DTO.
 * @param more checks that the DTO's decorators cannot express; all of them run, even after the decorators have found
 * faults
 * @param complete gets the body with camelCase keys, and returns the body to validate: for a partial body, it adds the
 * values that the body does not change
 * @throws Refusal `invalid` with at most 50 faults and their paths, in the sender's own spelling. Faults of `more`
 * inside a faulty value are left out. The code is `VALIDATION`, or the code of the only fault
 */
export function readBody<T extends object>(
  dto: ClassConstructor<T>,
  raw: unknown,
  spelling: Spelling = 'any',
  more: (body: T) => readonly (() => Fault[])[] = () => [],
  complete: (given: Record<string, unknown>) => Record<string, unknown> = (given) => given,
): T {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw Refusal.validation([{ path: '', message: 'must be a JSON object' }]);
  refuseUnstorableValues(raw);
  const cased = spelling === 'camel' ? unconverted(raw) : toCamelCase(raw);
  const respelled = (fault: Fault) => ({
    ...fault,
    path: respell(fault.path, cased, spelling),
    message: fault.message.replace(SUGGESTED_KEY, (key) => respell(key, cased, spelling)),
  });
  const body = plainToInstance(dto, complete(cased.body as Record<string, unknown>), {
    exposeDefaultValues: true,
  });
  const errors = validateSync(body, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
  });
  const shape = faultsOf(errors);
  const faultyPaths = new Set(shape.map(({ path }) => path));
  const meaning = unlessFaulty(() => more(body), shape)
    .flatMap((check) => unlessFaulty(check, shape))
    .filter(({ path }) => !prefixesOf(path).some((prefix) => faultyPaths.has(prefix)));
  const spelled = new Set(cased.faults);
  const faults = withoutDuplicates([...cased.faults, ...shape, ...meaning]);
  if (faults.length > 0)
    throw Refusal.validation(faults, (fault) => (spelled.has(fault) ? fault : respelled(fault)));
  return body;
}

/**
 * Runs the work on a body that was read.
 * @throws the error of the work; a Refusal with details names the keys in the body's spelling
 */
export async function inSpellingOf<T>(raw: unknown, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || !error.details) throw error;
    const cased = toCamelCase(raw);
    const { kind, code, details } = error;
    // Services name the keys of small bodies in snake_case, like the options of the command line.
    const spelled = (path: string) => respell(cased.style === 'camel' ? camelKey(path) : path, cased, 'any');
    const respelled = details.map(({ path, message }) => ({ path: spelled(path), message }));
    // The message contains the paths of its details too.
    const message = details.reduce(
      (text, { path }) => (path === '' ? text : text.replaceAll(`${path}: `, `${spelled(path)}: `)),
      error.message,
    );
    throw new Refusal(kind, code, message, respelled);
  }
}

/** Returns the prefixes of a path and the path itself: `a`, `a[0]` and `a[0].b` for `a[0].b`. */
function prefixesOf(path: string): string[] {
  return [...path.matchAll(/[.[]|$/g)].map(({ index }) => path.slice(0, index));
}

/** Returns faults or warnings with their paths in the body's spelling. */
export function spelledAs(raw: unknown, faults: readonly Fault[]): Fault[] {
  const cased = toCamelCase(raw);
  return faults.map(({ path, message }) => ({ path: respell(path, cased, 'any'), message }));
}

/**
 * Returns what the work on the values returns. If the types in the body are wrong, such work can throw. Then it returns
 * an empty list, because the faults of the types are reported.
 */
function unlessFaulty<T>(work: () => readonly T[], shape: readonly Fault[]): readonly T[] {
  try {
    return work();
  } catch (error) {
    if (shape.length > 0) return [];
    throw error;
  }
}

function faultsOf(errors: readonly ValidationError[], parent = ''): Fault[] {
  return errors.flatMap((error) => {
    // An element that is not an object has no property name to report.
    if (error.property === undefined) return [{ path: parent, message: 'must be an object' }];
    const index = /^\d+$/.test(error.property);
    const path = index
      ? `${parent}[${error.property}]`
      : parent === ''
        ? error.property
        : `${parent}.${error.property}`;
    const own = messagesOf(error).flatMap(({ rule, message }) => {
      if (rule === 'elements') return message.split('\n').map((line) => ofElement(path, line));
      return rule === 'nestedValidation' && Array.isArray(error.value)
        ? error.value.flatMap((item: unknown, n) =>
            typeof item === 'object' && item !== null ? [] : [{ path: `${path}[${n}]`, message }],
          )
        : [{ path, message }];
    });
    return [...own, ...faultsOf(error.children ?? [], path)];
  });
}

/** Converts one line of the rule `Elements` (`[3] must be a string`) to a fault. */
function ofElement(path: string, line: string): Fault {
  const end = line.indexOf(' ');
  return { path: path + line.slice(0, end), message: line.slice(end + 1) };
}

/**
 * Returns the messages for one key. A value that is missing or has the wrong type breaks several rules, so only one
 * message is returned for such a value.
 */
function messagesOf({
  constraints = {},
  property,
  target,
  value,
}: ValidationError): { rule: string; message: string }[] {
  const broken = Object.entries(constraints).map(([rule, message]) => ({
    rule,
    message: rule === 'whitelistValidation' ? unknownKey(property, keysOf(target)) : clean(message, property),
  }));
  if (value === undefined && broken.length > 0) return [{ rule: 'isDefined', message: 'is required' }];
  const wrongType = broken.find(({ rule }) => TYPE_RULES.includes(rule));
  if (!wrongType) return broken;
  return [value === null ? { ...wrongType, message: `${wrongType.message}, and cannot be null` } : wrongType];
}

const keysOfClass = new Map<NewableFunction, readonly string[]>();

/** Returns the keys that a DTO reads. */
function keysOf(dto: object | undefined): readonly string[] {
  if (!dto) return [];
  const known = keysOfClass.get(dto.constructor);
  if (known) return known;
  const metadata = getMetadataStorage().getTargetValidationMetadatas(dto.constructor, '', false, false);
  const keys = [...new Set(metadata.map(({ propertyName }) => propertyName))];
  keysOfClass.set(dto.constructor, keys);
  return keys;
}

/** Removes duplicates, because two parts of the validation can find the same fault. */
function withoutDuplicates(faults: readonly Fault[]): Fault[] {
  const unique = new Map(faults.map((fault) => [`${fault.path}\0${fault.message}`, fault]));
  return [...unique.values()];
}

/** Messages of class-validator, and what Earshot says instead. */
const PLAINER: readonly (readonly [RegExp, string])[] = [
  [/ conforming to the specified constraints/, ''],
  [/be longer than or equal to 1 characters$/, 'not be empty'],
  [/be longer than or equal to (\d+) characters$/, 'have at least $1 characters'],
  [/be shorter than or equal to (\d+) characters$/, 'have at most $1 characters'],
  [/contain at least 1 elements$/, 'contain at least one element'],
  [/contain no more than (\d+) elements$/, 'contain at most $1 elements'],
];

/**
 * Returns a message of class-validator in plainer words, and without the key, because the fault's path already contains
 * the key.
 */
function clean(message: string, property: string): string {
  const withoutKey = message
    .replace(new RegExp(`^(nested property )?${escape(property)} `), '')
    .replace(new RegExp(`^(each value )in (nested property )?${escape(property)} `), '$1');
  return PLAINER.reduce((text, [pattern, words]) => text.replace(pattern, words), withoutKey);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Matches a path up to and including `filters`, or a path without `filters`. The user chooses the keys inside `filters`,
 * so their spelling does not change.
 */
const ABOVE_FILTERS = /^(?:.*?\.)?filters(?=[.[]|$)|^.*$/;

function respell(path: string, { spelling, style }: CasedBody, wanted: Spelling): string {
  const isSnake = (style ?? wanted) === 'snake';
  const [above = ''] = ABOVE_FILTERS.exec(path) ?? [];
  const spelled = above.replace(
    /[A-Za-z0-9_]+/g,
    (key) =>
      spelling.get(key) ?? (isSnake ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key),
  );
  return spelled + path.slice(above.length);
}
