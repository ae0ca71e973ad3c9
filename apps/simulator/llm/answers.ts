/** The parts of JSON Schema from which answers are built. */
interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** The JSON Schema keywords that the simulator accepts. OpenAI's strict mode accepts these, and others. */
const STRICT = ['type', 'enum', 'properties', 'items', 'required', 'additionalProperties', 'description'];

/**
 * Returns the first keyword that the simulator refuses, or `additionalProperties` if an object allows other properties;
 * undefined if the simulator accepts the schema.
 */
export function notStrict(schema: Schema): string | undefined {
  const own = Object.keys(schema).find((keyword) => !STRICT.includes(keyword));
  if (own !== undefined) return own;
  const { properties = {}, items } = schema;
  const isOpen =
    schema.properties !== undefined &&
    (schema as { additionalProperties?: unknown }).additionalProperties !== false;
  if (isOpen) return 'additionalProperties';
  return [...Object.values(properties), ...(items ? [items] : [])]
    .map(notStrict)
    .find((found) => found !== undefined);
}

/** One item of a request. */
interface AskedItem {
  n: number;
  /** The title and the text of the item. */
  text: string;
}

/** Values of an enum that are used if no other value fits. */
const UNDECIDED = ['neutral', 'other'];

/**
 * Returns the items in a message of the user: the lines of JSON between "begin <mark>" and "end <mark>". Returns an
 * empty list if the message has no such marks.
 */
export function itemsIn(content: string): AskedItem[] {
  const lines = content.split('\n');
  const mark = /^begin (\w+)$/.exec(lines[0] ?? '')?.[1];
  const end = lines.indexOf(`end ${mark}`);
  if (mark === undefined || end < 0) return [];
  return lines.slice(1, end).map((line) => {
    const { n, title = '', text = '' } = JSON.parse(line) as { n: number; title?: string; text?: string };
    return { n, text: [title, text].filter(Boolean).join('\n') };
  });
}

/**
 * Returns an answer to the schema of a request, by rules that a test can predict. A list is always empty. Each other
 * field of an item's answer is the first of these values that fits the schema:
 *
 * - `field=value` in the text, up to a semicolon or the end of the line
 * - the first value of its enum whose words are in the text, in lower or upper case
 * - of an enum: neutral or other, then null, then its first value
 * - null, 0, false, or the first 80 characters of the text
 */
export function answerTo(schema: Schema, items: readonly AskedItem[]): unknown {
  const answer = schema.properties?.items?.items?.properties?.answer;
  if (!answer) return valueOf('', schema, items[0]?.text ?? '');
  return { items: items.map(({ n, text }) => ({ n, answer: valueOf('answer', answer, text) })) };
}

/** Returns a value that fits no schema of a request: it has unknown keys, and a number as the sentiment. */
export function violation(items: readonly AskedItem[]): unknown {
  return {
    items: items.map(({ n }) => ({ n, answer: { verdict: 'splendid', sentiment: 7 } })),
    mood: 'splendid',
  };
}

function valueOf(name: string, schema: Schema, text: string): unknown {
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([key, field]) => [key, valueOf(key, field, text)]),
    );
  if (schema.type === 'array') return [];
  const stated = statedValueOf(name, text);
  const fromText = stated === undefined ? undefined : fitting(schema, stated);
  return fromText === undefined ? defaultValue(schema, text) : fromText;
}

function statedValueOf(name: string, text: string): string | undefined {
  const at = text.indexOf(`${name}=`);
  return at < 0 ? undefined : /^[^;\n]*/.exec(text.slice(at + name.length + 1))?.[0].trim();
}

/** Returns the value that the text states, if it fits the schema. */
function fitting(schema: Schema, stated: string): unknown {
  if (stated === 'null') return isNullable(schema) ? null : undefined;
  if (schema.enum) return schema.enum.find((value) => value === stated);
  if (has(schema, 'number') || has(schema, 'integer')) {
    const value = Number(stated);
    return stated !== '' && Number.isFinite(value) ? value : undefined;
  }
  if (has(schema, 'boolean')) return stated === 'true' || (stated === 'false' ? false : undefined);
  return stated;
}

function defaultValue(schema: Schema, text: string): unknown {
  if (schema.enum) {
    const folded = text.toLowerCase();
    const values = schema.enum.filter((value) => typeof value === 'string');
    const named = values.find((value) => folded.includes(value.toLowerCase().replaceAll('_', ' ')));
    return (
      named ??
      values.find((value) => UNDECIDED.includes(value)) ??
      (schema.enum.includes(null) ? null : schema.enum[0])
    );
  }
  if (isNullable(schema)) return null;
  if (has(schema, 'number') || has(schema, 'integer')) return 0;
  if (has(schema, 'boolean')) return false;
  return text.slice(0, 80);
}

function isNullable(schema: Schema): boolean {
  return has(schema, 'null') || (schema.enum?.includes(null) ?? false);
}

function has({ type }: Schema, wanted: string): boolean {
  return Array.isArray(type) ? type.includes(wanted) : type === wanted;
}
