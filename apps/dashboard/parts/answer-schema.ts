import type { components } from '../../../clients/typescript/src/index.js';

type Schema = components['schemas']['AgentStep']['schema'];
type Field = Schema[string];

type NamedField = Field & { name: string };

/** A field of a model's answer. In a form the fields are a list, because their names can change. */
export interface AnswerField extends NamedField {
  /** The field as it is stored; undefined for a new field. */
  stored?: NamedField;
}

/** Returns a new field without a name. */
export const newField = (): AnswerField => ({ name: '', type: 'string' });

/** Returns the fields of a schema. */
export const fieldsOf = (schema: Schema): AnswerField[] =>
  Object.entries(schema).map(([name, field]) => ({ ...field, name, stored: { ...field, name } }));

/** Returns the schema for the API. Each new or changed field has only the keys of its type. */
export const schemaOf = (fields: readonly AnswerField[]): Schema =>
  Object.fromEntries(
    fields.map(({ stored, ...current }) => {
      const isUnchanged = JSON.stringify(current) === JSON.stringify(stored);
      const { name, ...field } = current;
      return isUnchanged ? [name, field] : [name.trim(), keysOf(field)];
    }),
  );

function keysOf({ type, description, values, maxLength }: Field): Field {
  return {
    type,
    ...(description && { description }),
    ...(type === 'enum' && { values: values ?? [] }),
    ...(type === 'string' && maxLength && { maxLength }),
  };
}
