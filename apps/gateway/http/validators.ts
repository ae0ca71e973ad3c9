// class-transformer needs this import to read the types that the compiler emits for decorated properties.
import 'reflect-metadata';
import { Transform, Type, type ClassConstructor } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsObject,
  IsUUID,
  registerDecorator,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema';
import { instantIn, isStorableTime, isTimeZone } from '#kernel';
import { foldTerm } from '#matching';
import { INSTANT_SENT, nullable, type Schema } from '../openapi/schema.js';

// The `context` of our own rules contains their part of the key's schema, which `openapi/body-schemas.ts` reads.

/** Adds a sentence to the published description of a key or a class, and schema parts that no rule expresses. */
export function Described(
  description: string,
  more: Schema = {},
): (target: object, property?: string | symbol) => void {
  return JSONSchema({ description, ...more }) as never;
}

/** The key can be absent; null is a fault. */
export function Optional(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** The key can be absent or null. */
export function Nullable(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined && value !== null, { context: { nullable: true } });
}

/**
 * Refuses a text that is not empty but has no visible character. Other rules check the type and the length of the
 * value.
 */
export function NotBlank(): PropertyDecorator {
  return Check(
    (value) =>
      typeof value === 'string' && value !== '' && foldTerm(value) === '' ? 'must not be blank' : undefined,
    { pattern: '\\S' },
  );
}

/** Requires a UUID, and converts it to the canonical spelling, so that the same id is always the same key of a map. */
export function Id(): PropertyDecorator {
  return all(
    IsUUID(),
    Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : (value as unknown)), {
      toClassOnly: true,
    }),
  );
}

/** Requires an object of one class. */
export function Nested<T extends object>(dto: () => ClassConstructor<T>): PropertyDecorator {
  return all(IsObject(), ValidateNested({ context: { dto } }), Type(dto));
}

/** Requires a list of `min` to `max` objects of one class. */
export function ListOf<T extends object>(
  dto: () => ClassConstructor<T>,
  min: number,
  max: number,
): PropertyDecorator {
  return all(
    IsArray(),
    ArrayMinSize(min),
    ArrayMaxSize(max),
    ValidateNested({ each: true, message: 'must be an object', context: { dto } }),
    Type(dto),
    Transform(({ value }) => emptiedIfTooLong(flat(value), max), { toClassOnly: true }),
  );
}

/**
 * Removes the elements of a list that is too long, so that they are not checked. The length of the list does not
 * change, so that the list is refused.
 */
export function emptiedIfTooLong(value: unknown, max: number): unknown {
  return Array.isArray(value) && value.length > max ? new Array<unknown>(value.length) : value;
}

/**
 * Replaces a value that is not a list, and each list inside a list, by null, which class-validator refuses. `undefined`
 * is not replaced.
 * class-validator itself does not check lists inside a list, or an object in place of a list.
 */
export function flat(value: unknown): unknown {
  if (value === undefined) return value;
  return Array.isArray(value) ? value.map((item: unknown) => (Array.isArray(item) ? null : item)) : null;
}

/** For a map whose keys the user chooses: the keys and values of the map are not changed. */
export function KeepUnchanged(): PropertyDecorator {
  return all(
    // A type into which class-transformer does not look. On keys such as `constructor`, class-transformer would throw.
    Type(() => Boolean),
    Transform(({ obj, key }) => (obj as Record<string, unknown>)[key], { toClassOnly: true }),
  );
}

function all(...decorators: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => decorators.forEach((decorate) => decorate(target, property));
}

/**
 * Makes a rule of a function that returns the fault, or undefined.
 * @param schema the part of the rule that JSON Schema can express: it must accept everything that `test` accepts
 */
export function Check(
  test: (value: unknown, owner: Record<string, unknown>) => string | undefined,
  schema: Schema = {},
): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'check',
      target: target.constructor,
      propertyName: String(property),
      options: { context: schema },
      validator: {
        validate: (value: unknown, args?: ValidationArguments) => test(value, ownerOf(args)) === undefined,
        defaultMessage: (args?: ValidationArguments) => test(args?.value, ownerOf(args)) ?? 'is wrong',
      },
    });
  };
}

/**
 * Makes a rule for each element of a list: `test` returns the fault of one element, or undefined. The message has one
 * line for each fault. The line begins with the index of the element; `readBody` moves the index into the path. A value
 * that is not a list passes: another rule must refuse it.
 * @param items the schema of an element: it must accept everything that `test` accepts
 */
export function Elements(test: (element: unknown) => string | undefined, items: Schema): PropertyDecorator {
  const faults = (value: unknown): string[] =>
    (Array.isArray(value) ? value : []).flatMap((element, index) => {
      const fault = test(element);
      return fault === undefined ? [] : [`[${index}] ${fault}`];
    });
  return (target, property) => {
    registerDecorator({
      name: 'elements',
      target: target.constructor,
      propertyName: String(property),
      options: { context: { items } },
      validator: {
        validate: (value: unknown) => faults(value).length === 0,
        defaultMessage: (args?: ValidationArguments) => faults(args?.value).join('\n'),
      },
    });
  };
}

function ownerOf(args: ValidationArguments | undefined): Record<string, unknown> {
  return (args?.object ?? {}) as Record<string, unknown>;
}

/** Returns the fault of a value whose JSON has more than this number of KiB. */
export function jsonSizeFault(value: unknown, kibibytes: number): string | undefined {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > kibibytes * 1024
    ? `must be at most ${kibibytes} KiB of JSON`
    : undefined;
}

const MAX_URL_LENGTH = 2048;
const URL_SCHEMA: Schema = { type: 'string', maxLength: MAX_URL_LENGTH };

/**
 * Requires an http or https address of at most 2,048 characters, without a user name or password, and not with port 0.
 */
export function HttpUrl(): PropertyDecorator {
  return Check(httpUrlFault, { ...URL_SCHEMA, minLength: 1 });
}

/** Like `HttpUrl`, but the text can be empty. */
export function HttpUrlOrEmpty(): PropertyDecorator {
  return Check((value) => (value === '' ? undefined : httpUrlFault(value)), URL_SCHEMA);
}

/** Requires an ISO 8601 date or date-time; an offset is optional. */
export function DateTime(): PropertyDecorator {
  return Check(dateTimeFault, DATE_TIME_SCHEMA);
}

/** Like `DateTime`, but the value can be null. The key is required (with `Nullable` it is not). */
export function DateTimeOrNull(): PropertyDecorator {
  return Check((value) => (value === null ? undefined : dateTimeFault(value)), nullable(DATE_TIME_SCHEMA));
}

/** Requires an IANA time zone. */
export function TimeZone(): PropertyDecorator {
  return Check(timeZoneFault, { type: 'string' });
}

/** Requires that each element of a list is a BCP 47 language code. */
export function LanguageTags(): PropertyDecorator {
  return Elements(languageFault, { type: 'string', pattern: LANGUAGE.source });
}

function languageFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  return LANGUAGE.test(value) ? undefined : 'must be a BCP 47 language code, for example en or pt-BR';
}

/** Language, and optionally script, region and up to two variants (RFC 5646, section 2.1, without extensions). */
const LANGUAGE = /^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?(-[A-Za-z\d]{4,8}){0,2}$/;

/** Returns the fault of an address that must be an http or https URL. */
export function httpUrlFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    return 'must be an http or https address';
  const { username, password, port } = new URL(value);
  if (username !== '' || password !== '') return 'must not contain a user name or a password';
  return port === '0' ? 'must not have port 0' : undefined;
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/;
const DATE_TIME_SCHEMA: Schema = { ...INSTANT_SENT, pattern: DATE_TIME.source };

/**
 * Returns the fault of a value that must be an ISO 8601 date or date-time; an offset is optional. The time must be
 * storable; without an offset, it is read in UTC.
 */
export function dateTimeFault(value: unknown): string | undefined {
  const known =
    typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)) && isDay(value);
  if (!known) return 'must be an ISO 8601 date-time';
  return isStorableTime(instantIn(value, 'UTC'))
    ? undefined
    : 'must be an ISO 8601 date-time in the years 1 to 9999 of UTC';
}

/**
 * Returns whether the month of a date has this day, because `Date.parse` reads the 30th of February as the 2nd of
 * March.
 */
function isDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function timeZoneFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  return isTimeZone(value) ? undefined : 'must be an IANA time zone, for example Europe/Berlin';
}
