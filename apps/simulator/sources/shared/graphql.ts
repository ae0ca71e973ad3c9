/** One field of a query, or a group of fields of one type (`... on Discussion { … }`). */
export interface Selection {
  /** The key of the field in the response. */
  key: string;
  name: string;
  args: Readonly<Record<string, unknown>>;
  fields: readonly Selection[];
  /** For an inline fragment: the type of its fields. */
  on?: string;
}

/** The refusal of a query by a GraphQL upstream. The response has the status 200. */
export class GraphqlFault extends Error {
  constructor(
    message: string,
    /** Keys in addition to the message. */
    readonly more: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }

  /** The refusal as an entry of `errors`. */
  get entry(): object {
    return { ...this.more, message: this.message };
  }
}

/**
 * Returns the fields of a query with its variables filled in. Named fragments are not supported.
 * @throws GraphqlFault if the query cannot be parsed
 */
export function readSelections(query: string, variables: Readonly<Record<string, unknown>>): Selection[] {
  const tokens =
    query.replace(/#.*/g, '').match(/\.\.\.|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\w+|[^\s,]/g) ?? [];
  return new Parser(tokens, variables).parse();
}

/** An object of the upstream, with the upstream's own type name in `__typename`. */
export type GraphqlObject = Readonly<Record<string, unknown>> & { readonly __typename: string };

/**
 * Returns the selected fields of an object.
 * @throws GraphqlFault for a field that the type of the object does not have, and for an object of which the query
 * selects no fields
 */
export function selected(fields: readonly Selection[], from: GraphqlObject): Record<string, unknown> {
  const answer: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.on !== undefined) {
      if (field.on === from.__typename) Object.assign(answer, selected(field.fields, from));
      continue;
    }
    if (!(field.name in from)) throw unknownField(field.name, from.__typename);
    answer[field.key] = valueOf(field, from[field.name]);
  }
  return answer;
}

function valueOf(field: Selection, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => valueOf(field, each));
  if (value === null || typeof value !== 'object') return value;
  const object = value as GraphqlObject;
  if (field.fields.length === 0) {
    throw new GraphqlFault(
      `Field must have selections (field '${field.name}' returns ${object.__typename} but has no selections. Did you mean '${field.name} { ... }'?)`,
    );
  }
  return selected(field.fields, object);
}

/** Returns the error for a field that a type does not have. */
export function unknownField(fieldName: string, typeName: string): GraphqlFault {
  return new GraphqlFault(`Field '${fieldName}' doesn't exist on type '${typeName}'`, {
    extensions: { code: 'undefinedField', typeName, fieldName },
  });
}

class Parser {
  private at = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly variables: Readonly<Record<string, unknown>>,
  ) {}

  parse(): Selection[] {
    if (this.peek() !== '{') {
      const kind = this.next();
      if (kind !== 'query') throw this.unexpected(kind);
      if (this.peek() !== '(' && this.peek() !== '{') this.next();
      if (this.peek() === '(') this.skipDefinitions();
    }
    const fields = this.fields();
    if (this.peek() !== '') throw this.unexpected(this.peek());
    return fields;
  }

  private skipDefinitions(): void {
    let depth = 0;
    do {
      const token = this.next();
      if (token === '(') depth += 1;
      if (token === ')') depth -= 1;
    } while (depth > 0);
  }

  private fields(): Selection[] {
    this.expect('{');
    const fields: Selection[] = [];
    while (this.peek() !== '}') fields.push(this.field());
    this.expect('}');
    return fields;
  }

  private field(): Selection {
    const first = this.next();
    if (first === '...') {
      this.expect('on');
      const on = this.next();
      return { key: '', name: '', args: {}, fields: this.fields(), on };
    }
    if (!/^\w/.test(first)) throw this.unexpected(first);
    const isAlias = this.peek() === ':';
    if (isAlias) this.next();
    const name = isAlias ? this.next() : first;
    const args = this.peek() === '(' ? this.args() : {};
    const fields = this.peek() === '{' ? this.fields() : [];
    return { key: first, name, args, fields };
  }

  private args(): Record<string, unknown> {
    const args: Record<string, unknown> = {};
    this.expect('(');
    while (this.peek() !== ')') {
      const name = this.next();
      this.expect(':');
      args[name] = this.value();
    }
    this.expect(')');
    return args;
  }

  private value(): unknown {
    const token = this.next();
    if (token === '$') return this.variables[this.next()];
    if (token.startsWith('"')) return JSON.parse(token) as unknown;
    if (/^-?\d/.test(token)) return Number(token);
    if (token === 'null') return null;
    if (token === 'true' || token === 'false') return token === 'true';
    if (/^\w/.test(token)) return token;
    throw this.unexpected(token);
  }

  private peek(): string {
    return this.tokens[this.at] ?? '';
  }

  private next(): string {
    const token = this.peek();
    if (token === '') throw this.unexpected(token);
    this.at += 1;
    return token;
  }

  private expect(wanted: string): void {
    const token = this.next();
    if (token !== wanted) throw this.unexpected(token);
  }

  private unexpected(token: string): GraphqlFault {
    return new GraphqlFault(
      token === '' ? 'Unexpected end of document' : `Parse error on ${JSON.stringify(token)}`,
    );
  }
}
