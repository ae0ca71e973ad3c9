import { registerDecorator, ValidateIf, type ValidationArguments } from 'class-validator';

/** The key may be left out; null is a fault. */
export function Optional(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** The key may be left out, and null is a value. */
export function Nullable(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined && value !== null);
}

/** A rule given as a function: it returns what is wrong, or nothing. */
export function Check(test: (value: unknown, owner: Record<string, unknown>) => string | undefined): PropertyDecorator {
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

function ownerOf(args: ValidationArguments | undefined): Record<string, unknown> {
  return (args?.object ?? {}) as Record<string, unknown>;
}

/** An http or https address of at most 2,048 characters. */
export function httpUrlFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > 2048) return 'must be at most 2048 characters';
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) return 'must be an http or https address';
  return undefined;
}

/** ISO 8601 date-time; an offset is optional. */
export function dateTimeFault(value: unknown): string | undefined {
  const form = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/;
  if (typeof value !== 'string' || !form.test(value) || Number.isNaN(Date.parse(value))) return 'must be an ISO 8601 date-time';
  return undefined;
}

/** An IANA time zone. */
export function timeZoneFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return undefined;
  } catch {
    return 'must be an IANA time zone, for example Europe/Berlin';
  }
}
