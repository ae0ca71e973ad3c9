import { ValidationTypes } from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { SOURCE_IDS } from '#contracts';
import { NULL, ref, SOURCE, type Schema } from './schema.js';

/** A class whose validation rules describe a request body or a part of one. Its name ends with `Dto`. */
export type Dto = new () => object;

type Options = NonNullable<Parameters<typeof targetConstructorToSchema>[1]>;
type Converters = NonNullable<Options['additionalConverters']>;
type Converter = Extract<Converters[string], (...args: never[]) => unknown>;
type Rule = Parameters<Converter>[0] & { context?: unknown };

/** Maps the name in `components.schemas` to the schema of each class. The list must contain all referenced classes. */
export function bodySchemas(dtos: readonly Dto[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(dtos.map((dto) => [nameOf(dto), schemaOf(dto)]));
}

/** Returns the schema of a class in JSON Schema 2020-12, generated from its validation rules. */
export function schemaOf(dto: Dto): Schema {
  const schema = targetConstructorToSchema(dto, { additionalConverters: CONVERTERS }) as Schema;
  const { properties = {}, required = [], ...rest } = schema as { properties?: object; required?: string[] };
  if (!('type' in rest)) return schema;
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, part]) => [key, asJsonSchema2020(part)]),
    ),
    required,
    // `readBody` validates with `forbidNonWhitelisted`, so unknown keys are refused.
    additionalProperties: false,
  };
}

function nameOf(dto: Dto): string {
  return dto.name.replace(/Dto$/, '');
}

/**
 * Converters for our own rules, and for rules that JSON Schema 2020-12 can express more exactly than the library does.
 * The type of a number comes only from `IsInt` and `IsNumber`: the library's converter for `Max` would change the type
 * `integer` to `number`.
 */
const CONVERTERS: Converters = {
  [ValidationTypes.CONDITIONAL_VALIDATION]: ({ context }: Rule) => context ?? {},
  [ValidationTypes.NESTED_VALIDATION]: nested,
  check: ({ context }: Rule) => context ?? {},
  elements: ({ context }: Rule) => context ?? {},
  isIn: ({ constraints }: Rule) => {
    const [values] = constraints as [readonly unknown[]];
    return values === SOURCE_IDS ? SOURCE : { type: 'string', enum: values };
  },
  isPositive: { exclusiveMinimum: 0 },
  min: ({ constraints }: Rule) => ({ minimum: constraints[0] as number }),
  max: ({ constraints }: Rule) => ({ maximum: constraints[0] as number }),
} as Converters;

/**
 * Returns a reference to the schema of another class. Some lists also accept a string in place of the object. The
 * string is the value of the key that `bareKey` names.
 */
function nested({ context }: Rule): Schema {
  const { dto, bareKey } = context as { dto: () => Dto; bareKey?: string };
  const reference = ref(nameOf(dto()));
  if (bareKey === undefined) return reference;
  const { properties } = schemaOf(dto()) as { properties: Record<string, Schema> };
  return { anyOf: [properties[bareKey] ?? {}, reference] };
}

/** Converts `nullable` of OpenAPI 3.0 to the type `null` of JSON Schema 2020-12. */
function asJsonSchema2020(part: Schema): Schema {
  const { nullable, description, ...rest } = part;
  // A type beside a reference is removed, because it is redundant.
  const schema = '$ref' in rest ? { $ref: rest.$ref } : rest;
  return {
    ...(nullable === true ? { anyOf: [schema, NULL] } : schema),
    ...(description === undefined ? {} : { description }),
  };
}
