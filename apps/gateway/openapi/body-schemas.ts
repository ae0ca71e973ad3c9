import { ValidationTypes } from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { SOURCE_IDS } from '#contracts';
import { NULL, ref, SOURCE, type Schema } from './schema.js';

/** A class whose validation rules describe a request body, or a part of one. Its name ends with `Dto`. */
export type Dto = new () => object;

type Options = NonNullable<Parameters<typeof targetConstructorToSchema>[1]>;
type Converters = NonNullable<Options['additionalConverters']>;
type Converter = Extract<Converters[string], (...args: never[]) => unknown>;
type Rule = Parameters<Converter>[0] & { context?: unknown };

/** Name in `components.schemas` → schema, for each of the classes. Classes that they refer to must be among them. */
export function bodySchemas(dtos: readonly Dto[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(dtos.map((dto) => [nameOf(dto), schemaOf(dto)]));
}

/** The schema of a class in JSON Schema 2020-12, made of its validation rules. */
export function schemaOf(dto: Dto): Schema {
  const schema = targetConstructorToSchema(dto, { additionalConverters: CONVERTERS }) as Schema;
  const { properties = {}, required = [], ...rest } = schema as { properties?: object; required?: string[] };
  if (!('type' in rest)) return schema;
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, ofToday(part)])),
    required,
    // Unknown keys are refused: `readBody` validates with `forbidNonWhitelisted`.
    additionalProperties: false,
  };
}

function nameOf(dto: Dto): string {
  return dto.name.replace(/Dto$/, '');
}

/**
 * What the library does not know of our rules, or says less exactly than JSON Schema 2020-12 can. The types of numbers
 * come from `IsInt` and `IsNumber` alone, since `Max` would make a number of an integer.
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

/** Another class; in some lists a bare text may stand for an object with that one key. */
function nested({ context }: Rule): Schema {
  const { dto, bareKey } = context as { dto: () => Dto; bareKey?: string };
  const reference = ref(nameOf(dto()));
  if (bareKey === undefined) return reference;
  const { properties } = schemaOf(dto()) as { properties: Record<string, Schema> };
  return { anyOf: [properties[bareKey] ?? {}, reference] };
}

/** OpenAPI 3.0 says `nullable`, JSON Schema 2020-12 names null among the types. */
function ofToday(part: Schema): Schema {
  const { nullable, description, ...rest } = part;
  // Beside a reference, its own type says nothing.
  const schema = '$ref' in rest ? { $ref: rest.$ref } : rest;
  return {
    ...(nullable === true ? { anyOf: [schema, NULL] } : schema),
    ...(description === undefined ? {} : { description }),
  };
}
