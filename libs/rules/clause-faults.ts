import { INTENTS, SENTIMENTS, SOURCE_IDS } from '#contracts';
import { foldTerm } from '#matching';
import { agentFieldOf, FIELD_KINDS, isField, OPERATORS, OPERATORS_OF, type FieldKind } from './fields.js';

/** A clause as a body contains it: nothing is checked yet. */
export interface GivenClause {
  field: unknown;
  op: unknown;
  value?: unknown;
}

/** A field of an agent step: its type, and the values of an `enum`. */
export interface AgentField {
  type?: unknown;
  values?: unknown;
}

/** What is wrong with one key of a clause. */
export interface ClauseFault {
  key: 'field' | 'op' | 'value';
  /** The text of the error without the path. The text lists the allowed values if only certain values are allowed. */
  message: string;
}

/** The longest text in a clause's value, in characters, and the longest list of `in`. */
export const MAX_VALUE_CHARACTERS = 1_000;
export const MAX_VALUES = 100;

const KIND_OF_AGENT_FIELD: Readonly<Record<string, FieldKind>> = {
  string: 'name',
  enum: 'name',
  number: 'number',
  boolean: 'boolean',
};
/** Fields with a fixed set of values. */
const VALUES_OF: Readonly<Record<string, readonly string[]>> = {
  sentiment: SENTIMENTS,
  intent: INTENTS,
  source: SOURCE_IDS,
};

/**
 * Returns the first fault of a clause: an unknown field, an operator that the field does not allow, or a value that the
 * field and the operator do not allow.
 * @param schema the fields of the keyword's agent step; undefined if the keyword has no agent step
 */
export function clauseFault(
  { field, op, value }: GivenClause,
  schema: Readonly<Record<string, AgentField>> | undefined,
): ClauseFault | undefined {
  // The decorators of the body report a missing field or an unknown operator.
  if (typeof field !== 'string' || field === '' || !isOperator(op)) return undefined;
  const found = kindOf(field, schema);
  if ('message' in found) return found;
  const allowed = OPERATORS_OF[found.kind];
  if (!allowed.includes(op))
    return { key: 'op', message: `does not fit ${field}; use one of ${allowed.join(', ')}` };
  const message = valueFault(value, op, found);
  return message === undefined ? undefined : { key: 'value', message };
}

/**
 * Returns the fault of a value that no operator accepts. Returns undefined if there is no such fault, also for an
 * absent value, because `exists` accepts it.
 */
export function valueShapeFault(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'boolean' || Number.isFinite(value)) return undefined;
  if (Array.isArray(value)) return listFault(value, { kind: 'name' });
  return (
    similarFault(value) &&
    `must be a text, a number, true or false, a list of texts, or {text, threshold}; a text must have 1 to ${MAX_VALUE_CHARACTERS} characters, at least one of them visible, and a threshold must be from 0 to 1`
  );
}

/** The type of a field, and the possible values if only certain values are possible. */
interface KnownField {
  kind: FieldKind;
  values?: readonly string[];
}

function kindOf(
  field: string,
  schema: Readonly<Record<string, AgentField>> | undefined,
): KnownField | ClauseFault {
  const name = agentFieldOf(field);
  if (name !== undefined) return agentKindOf(name, schema);
  if (!isField(field))
    return {
      key: 'field',
      message: `is not a field of a mention; the fields are ${Object.keys(FIELD_KINDS).join(', ')} and ai.<field>`,
    };
  const values = VALUES_OF[field];
  return { kind: FIELD_KINDS[field], ...(values && { values }) };
}

function agentKindOf(
  name: string,
  schema: Readonly<Record<string, AgentField>> | undefined,
): KnownField | ClauseFault {
  if (!schema)
    return { key: 'field', message: 'reads the agent step, but the keyword has none: add an aiStep' };
  const known = Object.keys(schema).map((key) => `ai.${key}`);
  if (!Object.hasOwn(schema, name))
    return { key: 'field', message: `is not a field of the agent step; its fields are ${known.join(', ')}` };
  const { type, values } = schema[name] ?? {};
  const kind = KIND_OF_AGENT_FIELD[String(type)] ?? 'name';
  return { kind, ...(type === 'enum' && isStringArray(values) && { values }) };
}

function valueFault(value: unknown, op: string, field: KnownField): string | undefined {
  switch (op) {
    case 'exists':
      return value === undefined || typeof value === 'boolean'
        ? undefined
        : 'must be true or false, or left out';
    case 'in':
      return listFault(value, field);
    case 'similar_to':
      return similarFault(value);
    case 'contains':
    case 'not_contains':
    case 'word':
      return textFault(value);
    default:
      return scalarFault(value, field);
  }
}

function scalarFault(value: unknown, { kind, values }: KnownField): string | undefined {
  if (kind === 'number') return Number.isFinite(value) ? undefined : 'must be a number';
  if (kind === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false';
  return textFault(value) ?? allowedValueFault([value as string], values);
}

function listFault(value: unknown, { kind, values }: KnownField): string | undefined {
  if (!isStringArray(value)) return 'must be an array of strings';
  if (value.length === 0 || value.length > MAX_VALUES) return `must have 1 to ${MAX_VALUES} values`;
  if (kind === 'number')
    return value.every((one) => one.trim() !== '' && Number.isFinite(Number(one)))
      ? undefined
      : 'must contain only numbers, written as strings';
  return value.map(textFault).find((fault) => fault !== undefined) ?? allowedValueFault(value, values);
}

function similarFault(value: unknown): string | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be a string, or an object with a text';
  const { text, threshold, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `has the unknown key ${JSON.stringify(unknown.slice(0, 60))}`;
  if (typeof text !== 'string') return 'must be a string, or an object with a text';
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0 && threshold <= 1))
    return 'must have a threshold that is a number from 0 to 1';
  return textFault(text);
}

/**
 * Returns the fault of a text. A text without a visible character is refused, because it would match every text or
 * none.
 */
function textFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a string that is not empty';
  // Characters are counted like those of JSON Schema: an emoji is one.
  if (value.length > MAX_VALUE_CHARACTERS && [...value].length > MAX_VALUE_CHARACTERS)
    return `must be at most ${MAX_VALUE_CHARACTERS} characters`;
  return foldTerm(value) === '' ? 'must have a visible character' : undefined;
}

function allowedValueFault(
  given: readonly string[],
  values: readonly string[] | undefined,
): string | undefined {
  if (!values) return undefined;
  const known = new Set(values.map(foldTerm));
  return given.every((one) => known.has(foldTerm(one))) ? undefined : `must be one of ${values.join(', ')}`;
}

function isOperator(op: unknown): op is (typeof OPERATORS)[number] {
  return (OPERATORS as readonly unknown[]).includes(op);
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
