import { ref, type Schema } from './schema.js';

const REF = '#/components/schemas/';

/**
 * Adds snake_case to the description of bodies: each schema with keys of several words gets a second schema in that
 * spelling. Names that the user chooses (in `filters` and `schema`) are not properties of a schema, so they do not
 * change.
 */
export class SnakeCase {
  /** The snake_case schemas that were used, by name. */
  readonly schemas: Record<string, Schema> = {};
  private readonly names = new Map<string, string>();

  /** @param known `components.schemas` in camelCase */
  constructor(private readonly known: Readonly<Record<string, Schema>>) {}

  /** Returns a schema that accepts both spellings. */
  both(schema: Schema): Schema {
    const snake = this.converted(schema) as Schema;
    if (JSON.stringify(snake) === JSON.stringify(schema)) return schema;
    return { anyOf: [...alternativesOf(schema), ...alternativesOf(snake)] };
  }

  private converted(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.converted(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, this.convertedPart(key, inner)]),
    );
  }

  private convertedPart(key: string, value: unknown): unknown {
    switch (key) {
      case '$ref':
        return ref(this.nameOf(String(value).slice(REF.length))).$ref;
      case 'properties':
        return Object.fromEntries(
          Object.entries(value as object).map(([name, schema]) => [snake(name), this.converted(schema)]),
        );
      case 'required':
        return (value as string[]).map(snake);
      case 'enum':
      case 'const':
      case 'examples':
        return value;
      default:
        return this.converted(value);
    }
  }

  private nameOf(name: string): string {
    const found = this.names.get(name);
    if (found !== undefined) return found;
    const schema = this.known[name];
    const converted = this.converted(schema) as Schema;
    const isSame = JSON.stringify(converted) === JSON.stringify(schema);
    const own = isSame ? name : `${name}InSnakeCase`;
    this.names.set(name, own);
    if (!isSame) this.schemas[own] = converted;
    return own;
  }
}

const alternativesOf = (schema: Schema): Schema[] => (schema['anyOf'] as Schema[] | undefined) ?? [schema];

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
