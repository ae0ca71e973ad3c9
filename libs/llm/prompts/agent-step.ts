import { MAX_AGENT_TEXT_LENGTH } from '#contracts';
import type { LlmReading } from '../reading.js';

/** The flat schema of an agent step's answer. */
export type AgentStepFields = Readonly<
  Record<
    string,
    {
      /** string, number, boolean or enum */
      type: string;
      description?: string | undefined;
      /** The values of an enum. */
      values?: readonly string[] | undefined;
      maxLength?: number | undefined;
    }
  >
>;

type Field = AgentStepFields[string];
/** The answer of a step: each field has a value of its type, or null. */
export type AgentStepOutput = Record<string, string | number | boolean | null>;

/** Maximum length of a text whose field has no `maxLength`. */
const DEFAULT_MAX_LENGTH = 2_000;

/**
 * Returns the reading that carries out a user's instruction. Null is a valid value of each field of the flat schema.
 */
export function agentStepReading(instruction: string, fields: AgentStepFields): LlmReading<AgentStepOutput> {
  const names = Object.keys(fields);
  const properties = Object.fromEntries(names.map((name) => [name, schemaOf(fields[name]!)]));
  return {
    prompt: { name: 'agent-step', version: '1' },
    instructions: `You carry out a user's task on each item, for a monitoring service. The task:
${instruction}
Fill in every field of the "answer". null means: the item does not say it.`,
    schema: { type: 'object', properties, required: names, additionalProperties: false },
    check(answer) {
      if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
        return { fault: '"answer" is not an object' };
      const unknown = Object.keys(answer).find((name) => !Object.hasOwn(fields, name));
      if (unknown !== undefined)
        return { fault: `"answer" has no field ${JSON.stringify(unknown.slice(0, 60))}` };
      const output: [string, AgentStepOutput[string]][] = [];
      for (const name of names) {
        if (!Object.hasOwn(answer, name)) return { fault: `"answer" lacks ${JSON.stringify(name)}` };
        const value = (answer as Record<string, unknown>)[name];
        const fault = faultOf(value, fields[name]!);
        if (fault) return { fault: `${JSON.stringify(name)} ${fault}` };
        output.push([name, value as AgentStepOutput[string]]);
      }
      // The value has the order of the schema. `Object.fromEntries` also keeps a field with the name `__proto__`.
      return { value: Object.fromEntries(output) };
    },
  };
}

function faultOf(value: unknown, field: Field): string | undefined {
  const { type, values = [] } = field;
  if (value === null) return undefined;
  switch (type) {
    case 'enum':
      return values.includes(value as string)
        ? undefined
        : `must be one of ${JSON.stringify(values)}, or null`;
    case 'string':
      if (typeof value !== 'string') return 'must be a string or null';
      // JSON Schema counts characters, not UTF-16 code units.
      return value.length > longest(field) && [...value].length > longest(field)
        ? `must have at most ${longest(field)} characters`
        : undefined;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number or null';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true, false or null';
    default:
      return 'has a type that is not known; use null';
  }
}

function longest({ maxLength = DEFAULT_MAX_LENGTH }: Field): number {
  return Math.min(maxLength, MAX_AGENT_TEXT_LENGTH);
}

function schemaOf(field: Field): Record<string, unknown> {
  const { type, description, values = [] } = field;
  const described = description ? { description } : {};
  if (type === 'enum') return { ...described, type: ['string', 'null'], enum: [...values, null] };
  if (type === 'string') return { ...described, type: ['string', 'null'], maxLength: longest(field) };
  return { ...described, type: [type, 'null'] };
}
