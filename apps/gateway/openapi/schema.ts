/** A JSON Schema (2020-12), or any other part of the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

export const TEXT: Schema = { type: 'string' };
export const INTEGER: Schema = { type: 'integer' };
export const NUMBER: Schema = { type: 'number' };
export const BOOLEAN: Schema = { type: 'boolean' };
export const ID: Schema = { type: 'string', format: 'uuid' };
/** ISO 8601 UTC with milliseconds and `Z`. */
export const INSTANT: Schema = { type: 'string', format: 'date-time' };
/** An instant in a request, with any offset. Without an offset it is in UTC. */
export const INSTANT_SENT: Schema = { type: 'string', examples: ['2026-03-01T12:00:00+01:00', '2026-03-01'] };
export const DATE: Schema = { type: 'string', format: 'date' };
export const NULL: Schema = { type: 'null' };
/** An object whose property names the user chooses. */
export const FREE_FORM: Schema = { type: 'object', additionalProperties: true };

/** Returns the schema of a text with `minLength` to `maxLength` characters. */
export function textOf(minLength: number, maxLength: number): Schema {
  return { type: 'string', minLength, maxLength };
}

/** Returns the schema of a text that is one of these values. */
export function oneOf(values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

/** Returns the schema of a list with `minItems` to `maxItems` elements. */
export function listOf(items: Schema, minItems?: number, maxItems?: number): Schema {
  return {
    type: 'array',
    items,
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
  };
}

/** Returns the schema of a map whose keys are not known in advance. */
export function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** Returns a schema that also accepts null. */
export function nullable(schema: Schema): Schema {
  return { anyOf: [schema, NULL] };
}

/** Returns the schema with a description. */
export function described(description: string, schema: Schema): Schema {
  return '$ref' in schema ? { allOf: [schema], description } : { ...schema, description };
}

/** Returns a reference to a schema of `components.schemas`. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Any source, by its id. */
export const SOURCE = ref('Source');

/**
 * Returns the schema of an object that requires the keys of `required`, allows the keys of `optional`, and refuses all
 * other keys.
 */
export function object(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema & { properties: Readonly<Record<string, Schema>> } {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** Returns the schema of a page of a list. */
export function pageOf(key: string, items: Schema, more: Readonly<Record<string, Schema>> = {}): Schema {
  return object({ [key]: listOf(items), ...more }, { nextCursor: NEXT_CURSOR });
}

const NEXT_CURSOR: Schema = {
  type: 'string',
  description: 'Beginning of the next page. Send it back unchanged as `cursor`. Absent on the last page.',
};
