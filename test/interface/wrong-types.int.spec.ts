import { newId } from '#kernel';
import type { Browser } from './browser.js';
import { description } from './described.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { firstOwner } from './people.js';

interface Schema {
  $ref?: string;
  anyOf?: readonly Schema[];
  properties?: Record<string, Schema>;
}
interface Operation {
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

const document = description as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

const WRONG = [null, true, -1, 'x', [null], {}];

function keysOf({ requestBody }: Operation): string[] {
  const schema = requestBody?.content['application/json'].schema ?? {};
  const { $ref } = schema.anyOf?.[0] ?? schema;
  const body = document.components.schemas[$ref?.split('/').at(-1) ?? ''];
  return Object.keys(body?.properties ?? {});
}

let service: InterfaceUnderTest;
let owner: Browser;
beforeAll(async () => {
  service = await startInterface();
  owner = await firstOwner(service.url);
});
afterAll(() => service?.stop());

const addressOf = (path: string) =>
  path.replace('{source}', 'hackernews').replaceAll(/\{\w+\}/g, () => newId());

it.each(operations.filter(({ operation }) => keysOf(operation).length > 0))(
  '$method $path never returns 500 for a body without its keys, or with a value of a wrong type [errors.validation]',
  async ({ path, method, operation }) => {
    const bodies = [{}, ...keysOf(operation).flatMap((key) => WRONG.map((value) => ({ [key]: value })))];
    const failed = await Promise.all(
      bodies.map(async (body) => {
        const { status, text } = await owner.call(method.toUpperCase() as 'POST', addressOf(path), body);
        // 503: some routes need a service that does not run here.
        return status === 500 ? [{ body, text }] : [];
      }),
    );
    expect(failed.flat()).toEqual([]);
  },
);
