import { openApiDocument } from '../../apps/gateway/openapi/document.js';

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
}

const { schemas } = (openApiDocument() as unknown as { components: { schemas: Record<string, Schema> } })
  .components;

/** A value without parts, at a path such as `rules[].when.all[].op`; `*` is any key. */
export interface Leaf {
  path: string;
  schema: Schema;
}

/** Returns every value without parts that a schema of the OpenAPI description can have. */
export const leavesOf = (name: string): Leaf[] => [
  ...new Map(walk({ $ref: `#/${name}` }, '').map((leaf) => [leaf.path, leaf])).values(),
];

function walk(schema: Schema, path: string): Leaf[] {
  const { $ref, properties, additionalProperties, items } = schema;
  if ($ref) return walk(schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}, path);
  const variants = variantsOf(schema);
  if (variants.length > 0) return variants.flatMap((one) => walk(one, path));
  if (items) return walk(items, `${path}[]`);
  if (properties)
    return Object.entries(properties).flatMap(([key, part]) => walk(part, path ? `${path}.${key}` : key));
  if (typeof additionalProperties === 'object') return walk(additionalProperties, `${path}.*`);
  return [{ path, schema }];
}

/**
 * Returns the variants of a value. If some variants have parts, returns only these, because the other variants are
 * short forms.
 */
function variantsOf({ anyOf = [], oneOf = [], allOf = [] }: Schema): Schema[] {
  const variants = [...anyOf, ...oneOf, ...allOf].filter(({ type }) => type !== 'null');
  const withParts = variants.filter(({ $ref, properties }) => $ref ?? properties);
  return withParts.length > 0 ? withParts : variants;
}
