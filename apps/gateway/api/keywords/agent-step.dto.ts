import { IsObject, IsString, Length } from 'class-validator';
import { MAX_AGENT_TEXT_LENGTH } from '#contracts';
import { KeepUnchanged, Check, NotBlank } from '../../http/validators.js';
import { listOf, mapOf, object, oneOf, TEXT, textOf, described } from '../../openapi/schema.js';

const TYPES = ['string', 'number', 'boolean', 'enum'];
const MAX_FIELDS = 12;
const MAX_DESCRIPTION_LENGTH = 200;
const MAX_VALUES = 12;
/** The largest accepted `maxLength`. A stored agent step contains the number as a 32-bit integer. */
const MAX_LENGTH = 2 ** 31 - 1;

const FIELD = object(
  { type: oneOf(TYPES) },
  {
    description: textOf(0, MAX_DESCRIPTION_LENGTH),
    values: described('At least one value for an `enum`', listOf(TEXT, 0, MAX_VALUES)),
    maxLength: described(
      `For a \`string\`; more than ${MAX_AGENT_TEXT_LENGTH} counts as ${MAX_AGENT_TEXT_LENGTH}`,
      { type: 'integer', minimum: 1, maximum: MAX_LENGTH },
    ),
  },
);

/** The JSON schema of the fields of an agent's output. */
export const AGENT_FIELDS = { ...mapOf(FIELD), minProperties: 1, maxProperties: MAX_FIELDS };

/** An agent step: one instruction, and the flat schema of the answer. The user chooses the keys of the schema. */
export class AgentStepDto {
  @IsString() @Length(1, 800) @NotBlank() instruction!: string;
  @IsObject()
  @KeepUnchanged()
  @Check(agentFieldsFault, AGENT_FIELDS)
  schema!: Record<string, unknown>;
}

/** Returns the first fault of a schema, which must have 1 to 12 fields. */
export function agentFieldsFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = Object.entries(value);
  if (fields.length < 1 || fields.length > MAX_FIELDS) return `must have 1 to ${MAX_FIELDS} fields`;
  for (const [name, field] of fields) {
    const fault = fieldFault(field);
    if (fault) return `has a faulty field ${JSON.stringify(name)}: ${fault}`;
  }
  return undefined;
}

function fieldFault(field: unknown): string | undefined {
  if (typeof field !== 'object' || field === null || Array.isArray(field)) return 'it must be an object';
  const { type, description, values, maxLength } = field as Record<string, unknown>;
  const unknown = Object.keys(field).find((key) => !Object.hasOwn(FIELD.properties, key));
  if (unknown !== undefined) return `${unknown} is not a known key`;
  if (!TYPES.includes(type as string)) return 'type must be string, number, boolean or enum';
  if (
    description !== undefined &&
    (typeof description !== 'string' || description.length > MAX_DESCRIPTION_LENGTH)
  )
    return `description must be a string of at most ${MAX_DESCRIPTION_LENGTH} characters`;
  if (
    values !== undefined &&
    !(Array.isArray(values) && values.length <= MAX_VALUES && values.every((one) => typeof one === 'string'))
  )
    return `values must be at most ${MAX_VALUES} strings`;
  if (type === 'enum' && !(Array.isArray(values) && values.length > 0)) return 'an enum needs values';
  if (
    maxLength !== undefined &&
    !(Number.isInteger(maxLength) && Number(maxLength) > 0 && Number(maxLength) <= MAX_LENGTH)
  )
    return `maxLength must be an integer from 1 to ${MAX_LENGTH}`;
  return undefined;
}
