// class-transformer reads the types that the compiler writes beside a decorated property through it.
import 'reflect-metadata';
import { Transform, Type, type ClassConstructor } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsUUID,
  registerDecorator,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { isTimeZone } from '#kernel';

/** The key may be left out; null is a fault. */
export function Optional(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** The key may be left out, and null is a value. */
export function Nullable(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined && value !== null);
}

/** A text that holds more than white space. */
export function NotBlank(): PropertyDecorator {
  return Check((value) =>
    typeof value === 'string' && value !== '' && value.trim() === '' ? 'must not be blank' : undefined,
  );
}

/** A UUID, in its one spelling: keys of maps know no other. */
export function Id(): PropertyDecorator {
  return all(
    IsUUID(),
    Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : (value as unknown)), {
      toClassOnly: true,
    }),
  );
}

/** A list of objects of one class, `min` to `max` of them. */
export function ListOf<T extends object>(
  dto: () => ClassConstructor<T>,
  min: number,
  max: number,
): PropertyDecorator {
  return all(
    IsArray(),
    ArrayMinSize(min),
    ArrayMaxSize(max),
    ValidateNested({ each: true, message: 'must be an object' }),
    Type(dto),
    Transform(({ value }) => countedFirst(flat(value), max), { toClassOnly: true }),
  );
}

/** A list that is too long keeps its length, which is refused, and none of its elements, which are not looked at. */
export function countedFirst(value: unknown, max: number): unknown {
  return Array.isArray(value) && value.length > max ? new Array<unknown>(value.length) : value;
}

/**
 * class-validator looks into lists inside a list and finds nothing wrong there, and into an object where a list is
 * wanted: what is no list, and each list inside one, becomes null, which it refuses.
 */
export function flat(value: unknown): unknown {
  if (value === undefined) return value;
  return Array.isArray(value) ? value.map((item: unknown) => (Array.isArray(item) ? null : item)) : null;
}

/** A map with the user's own keys: kept as it came. */
export function AsItCame(): PropertyDecorator {
  return all(
    // A type that class-transformer does not look into: it falls over keys such as `constructor`.
    Type(() => Boolean),
    Transform(({ obj, key }) => (obj as Record<string, unknown>)[key], { toClassOnly: true }),
  );
}

function all(...decorators: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => decorators.forEach((decorate) => decorate(target, property));
}

/** A rule given as a function: it returns what is wrong, or nothing. */
export function Check(
  test: (value: unknown, owner: Record<string, unknown>) => string | undefined,
): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'check',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown, args?: ValidationArguments) => test(value, ownerOf(args)) === undefined,
        defaultMessage: (args?: ValidationArguments) => test(args?.value, ownerOf(args)) ?? 'is wrong',
      },
    });
  };
}

/**
 * A rule for each element of a list: `test` returns what is wrong with one, or nothing. The message has a line for each
 * fault, with the index before it, which `readBody` puts into the path.
 */
export function Elements(test: (element: unknown) => string | undefined): PropertyDecorator {
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

/** At most so many KiB of JSON. */
export function jsonSizeFault(value: unknown, kibibytes: number): string | undefined {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > kibibytes * 1024
    ? `must be at most ${kibibytes} KiB of JSON`
    : undefined;
}

/** An http or https address of at most 2,048 characters that a request can be sent to. */
export function httpUrlFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > 2048) return 'must be at most 2048 characters';
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    return 'must be an http or https address';
  const { username, password, port } = new URL(value);
  if (username !== '' || password !== '') return 'must not hold a user name or a password';
  return port === '0' ? 'must not have port 0' : undefined;
}

/** ISO 8601 date-time; an offset is optional. */
export function dateTimeFault(value: unknown): string | undefined {
  const form = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/;
  const known =
    typeof value === 'string' && form.test(value) && !Number.isNaN(Date.parse(value)) && isDay(value);
  return known ? undefined : 'must be an ISO 8601 date-time';
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** An IANA time zone. */
export function timeZoneFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  return isTimeZone(value) ? undefined : 'must be an IANA time zone, for example Europe/Berlin';
}
