import { IsObject, IsString, Length } from 'class-validator';
import { AsItCame, Check, NotBlank } from '../../http/validators.js';

const FIELD_KEYS = new Set(['type', 'description', 'values', 'maxLength']);
/** The largest that a stored step can hold. */
const MOST_LENGTH = 2 ** 31 - 1;

/** One instruction and the flat schema of its answer. The schema's keys are the user's own. */
export class AgentStepDto {
  @IsString() @Length(1, 800) @NotBlank() instruction!: string;
  @IsObject() @AsItCame() @Check(schemaFault) schema!: Record<string, unknown>;
}

/** The first thing that is wrong with a schema of 1 to 12 fields. */
function schemaFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = Object.entries(value);
  if (fields.length < 1 || fields.length > 12) return 'must have 1 to 12 fields';
  for (const [name, field] of fields) {
    const fault = fieldFault(field);
    if (fault) return `has a faulty field ${JSON.stringify(name)}: ${fault}`;
  }
  return undefined;
}

function fieldFault(field: unknown): string | undefined {
  if (typeof field !== 'object' || field === null || Array.isArray(field)) return 'it must be an object';
  const { type, description, values, maxLength } = field as Record<string, unknown>;
  const unknown = Object.keys(field).find((key) => !FIELD_KEYS.has(key));
  if (unknown !== undefined) return `${unknown} is not a known key`;
  if (!['string', 'number', 'boolean', 'enum'].includes(type as string))
    return 'type must be string, number, boolean or enum';
  if (description !== undefined && (typeof description !== 'string' || description.length > 200))
    return 'description must be a string of at most 200 characters';
  if (
    values !== undefined &&
    !(Array.isArray(values) && values.length <= 12 && values.every((one) => typeof one === 'string'))
  )
    return 'values must be at most 12 strings';
  if (type === 'enum' && !(Array.isArray(values) && values.length > 0)) return 'an enum needs values';
  if (
    maxLength !== undefined &&
    !(Number.isInteger(maxLength) && Number(maxLength) > 0 && Number(maxLength) <= MOST_LENGTH)
  )
    return `maxLength must be an integer from 1 to ${MOST_LENGTH}`;
  return undefined;
}
