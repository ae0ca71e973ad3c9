import 'reflect-metadata';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { getMetadataStorage, IsIn, IsInt, IsString, Matches, Max, MaxLength } from 'class-validator';
import fc from 'fast-check';
import { Refusal, type Fault } from '#kernel';
import { minimalKeyword, type Json } from '../api/keywords/testing/keyword-body-under-test.js';
import { readBody } from '../http/body.js';
import { ListOf, Nullable, Optional } from '../http/validators.js';
import { schemaOf, type Dto } from './body-schemas.js';
import { openApiDocument } from './document.js';
import { BODIES } from './resources/bodies.js';
import type { Schema } from './schema.js';
import { FULL, ID } from './testing/full-bodies.js';

interface Described {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: { 'application/json': { schema: Schema; example: Json } } } }>
  >;
  components: { schemas: Record<string, Schema> };
}
interface Rule {
  propertyName: string;
  constraints?: unknown[];
}

const document = openApiDocument() as unknown as Described;
const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: fullFormats });
ajv.addSchema(document, 'openapi');

/** The names of the classes of bodies, without `Dto`. */
const BODY_NAMES = BODIES.map((dto) => dto.name.replace(/Dto$/, ''));
const validators = new Map(
  BODY_NAMES.map((name) => [name, ajv.compile({ $ref: `openapi#/components/schemas/${name}` })]),
);

function acceptedBySchema(name: string, body: unknown): boolean {
  return validators.get(name)?.(body) === true;
}

/** Returns the faults that the rules of a class find in a body. */
function faultsOf(dto: Dto, body: unknown): readonly Fault[] {
  try {
    readBody(dto, body, 'camel');
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.details ?? [];
    throw error;
  }
}

const CLASSES = new Map<string, Dto>(BODIES.map((dto) => [dto.name.replace(/Dto$/, ''), dto]));
const ROOTS = Object.keys(FULL).map((name) => [name, CLASSES.get(name) as Dto] as const);

/**
 * The paths of faults whose rules JSON Schema cannot express: addresses, zones, days of months, sizes, keys that depend
 * on other keys.
 */
const BEYOND_SCHEMA =
  /(^|\.)(webhookUrl|url|timezone|startsAt|endsAt|since|until|filters|schema)$|\.all\[\d+\]\.value$/;

/** Returns every path in a value, including the empty path of the value itself. */
function pathsOf(value: Json, path: (string | number)[] = []): (string | number)[][] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, one]) =>
          pathsOf(one ?? null, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return [path, ...inner];
}

/** Returns the body with another value at the path. Undefined removes the key or the element at the path. */
function changed(body: Json, path: readonly (string | number)[], value: Json): Json {
  const copy = structuredClone(body);
  const last = path.at(-1);
  if (last === undefined) return value;
  let at = copy as Record<string | number, Json>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, Json>;
  if (value !== undefined) at[last] = value;
  else if (Array.isArray(at)) at.splice(Number(last), 1);
  else delete at[last];
  return copy;
}

/** Every number in the description that limits a text, a list or a number. */
const LIMITS = [
  ...new Set(
    [
      ...JSON.stringify(document.components.schemas).matchAll(
        /"(?:m(?:ax|in)(?:Length|Items|imum|Properties)|exclusiveM\w+)":(\d+)/g,
      ),
    ].map(([, digits]) => Number(digits)),
  ),
];
const SIZES = [...new Set(LIMITS.flatMap((limit) => [limit - 1, limit, limit + 1]))];
const LENGTHS = SIZES.filter((size) => size >= 0 && size < 3000);

const anyJson = fc.oneof(
  fc.constantFrom<Json>(null, undefined, true, '', ' ', '\t', 'x', 'volume', 'item', ID, 1.5, -1, {}, []),
  fc.constantFrom<Json>(...SIZES),
  fc.constantFrom(...LENGTHS).map((length): Json => 'x'.repeat(length)),
  fc.constantFrom(...LENGTHS).map((length): Json => '\u{1f600}'.repeat(length)),
  fc.constantFrom<Json>([null], [[]], [1], { unknown: 1 }, [{ unknown: 1 }], ['x', 'x', 'x']),
  fc.jsonValue().map((value) => value as Json),
);
/** The length of the new list if a list is replaced by copies of its elements. */
const newLength = fc.constantFrom(...LENGTHS.filter((length) => length < 600));

const bodies = fc.constantFrom(...ROOTS).chain(([name, dto]) => {
  const full = FULL[name] as Json;
  const change = fc.tuple(
    fc.constantFrom(...pathsOf(full).filter(({ length }) => length > 0)),
    anyJson,
    newLength,
  );
  return fc.array(change, { minLength: 1, maxLength: 2 }).map((changes) => {
    const body = changes.reduce((at, [path, value, length]) => {
      try {
        const old = path.reduce((inner: unknown, key) => (inner as Record<string, unknown>)[key], at) as Json;
        const isList = Array.isArray(old) && old.length > 0 && length % 2 === 0;
        const list = isList ? Array.from({ length }, (_, n) => structuredClone(old[n % old.length])) : value;
        return changed(at, path, list as Json);
      } catch {
        // The first change has removed the path of the second change.
        return at;
      }
    }, full);
    return { name, dto, body };
  });
});

describe('the schema of a request body', () => {
  it.each(ROOTS)('accepts a body with every key, as the rules of its class do: %s', (name, dto) => {
    expect(faultsOf(dto, FULL[name])).toEqual([]);
    expect(acceptedBySchema(name, FULL[name])).toBe(true);
    const { properties } = document.components.schemas[name] as { properties: object };
    expect(Object.keys(FULL[name] as object).sort()).toEqual(Object.keys(properties).sort());
  });

  it('accepts exactly the bodies that the rules accept, apart from rules that a schema cannot express', () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(bodies, ({ name, dto, body }) => {
        const faults = faultsOf(dto, body);
        if (faults.length === 0) {
          accepted += 1;
          expect([body, acceptedBySchema(name, body)]).toEqual([body, true]);
        } else if (faults.some(({ path }) => !BEYOND_SCHEMA.test(path))) {
          refused += 1;
          expect([faults, acceptedBySchema(name, body)]).toEqual([faults, false]);
        }
      }),
      { numRuns: 700 },
    );
    expect(accepted).toBeGreaterThan(10);
    expect(refused).toBeGreaterThan(150);
  });

  it.each(
    BODIES.map((dto) => [dto.name, dto] as const).filter(
      ([, dto]) => limitsOf(dto).length > 0 && 'properties' in schemaOf(dto),
    ),
  )('has each limit of its class: %s', (_, dto) => {
    for (const rule of limitsOf(dto)) {
      const constraints = rule.constraints ?? [];
      constraints.forEach((value, index) => {
        if (value === undefined) return;
        const before = JSON.stringify(schemaOf(dto));
        constraints[index] =
          typeof value === 'number' ? value + 1 : Array.isArray(value) ? [...value, 'another'] : /^another$/;
        const after = JSON.stringify(schemaOf(dto));
        constraints[index] = value;
        expect([rule.propertyName, after === before]).toEqual([rule.propertyName, false]);
        expect(JSON.stringify(schemaOf(dto))).toBe(before);
      });
    }
  });

  it('has only examples that the rules of their class accept', () => {
    const routes = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const examples = routes.flatMap(({ requestBody }) => {
      const { schema, example } = requestBody?.content['application/json'] ?? {};
      return schema === undefined || example === undefined ? [] : [{ name: nameIn(schema), example }];
    });
    expect(examples.length).toBeGreaterThan(10);
    for (const { name, example } of examples) {
      // A change is read together with the existing keyword.
      const body = name === 'KeywordChange' ? { ...minimalKeyword(), ...(example as object) } : example;
      const dto = CLASSES.get(['QueryBody', 'KeywordChange'].includes(name) ? 'KeywordBody' : name);
      if (!dto) throw new Error(`${name} has no class`);
      expect(() => readBody(dto, body, 'any')).not.toThrow();
    }
  });

  it('expresses the keys, the limits and null of its class in JSON Schema 2020-12', () => {
    class PartDto {
      @IsInt() @Max(3) n!: number;
    }
    class WholeDto {
      @IsString() @MaxLength(5) text!: string;
      @Nullable() @IsIn(['a', 'b']) choice?: string | null;
      @Optional() @Matches(/^\d+$/) digits?: string;
      @Optional() @ListOf(() => PartDto, 1, 2) parts?: PartDto[];
    }
    expect(schemaOf(WholeDto)).toEqual({
      type: 'object',
      properties: {
        text: { type: 'string', maxLength: 5 },
        choice: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
        digits: { type: 'string', pattern: '^\\d+$' },
        parts: { type: 'array', items: { $ref: '#/components/schemas/Part' }, minItems: 1, maxItems: 2 },
      },
      required: ['text'],
      additionalProperties: false,
    });
  });
});

/** Returns the rules of a class that limit a value by numbers, lists of values or patterns. */
function limitsOf(dto: Dto): Rule[] {
  const rules: Rule[] = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return rules.filter(
    ({ constraints = [] }) =>
      constraints.length > 0 &&
      constraints.every(
        (one) => ['number', 'undefined'].includes(typeof one) || Array.isArray(one) || one instanceof RegExp,
      ),
  );
}

function nameIn(schema: Schema): string {
  const { $ref, anyOf } = schema as { $ref?: string; anyOf?: { $ref: string }[] };
  return ($ref ?? anyOf?.[0]?.$ref ?? '').split('/').at(-1) ?? '';
}
