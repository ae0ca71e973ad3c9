import type { components } from '../../../clients/typescript/src/index.js';

type Schema = components['schemas']['AgentStep']['schema'];
type Field = Schema[string];

/** A field of an answer. In a form the fields are a list, because their names can change. */
export type AnswerField = Field & { name: string };

export const newField = (): AnswerField => ({ name: '', type: 'string' });

export const fieldsOf = (schema: Schema): AnswerField[] =>
  Object.entries(schema).map(([name, field]) => ({ ...field, name }));

/** The schema for the API: each field has only the keys of its type. */
export const schemaOf = (fields: readonly AnswerField[]): Schema =>
  Object.fromEntries(fields.map(({ name, ...field }) => [name.trim(), keysOf(field)]));

function keysOf({ type, description, values, maxLength }: Field): Field {
  return {
    type,
    ...(description && { description }),
    ...(type === 'enum' && { values: values ?? [] }),
    ...(type === 'string' && maxLength && { maxLength }),
  };
}
