import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RefusalKind } from '#kernel';
import { createLogger } from '#telemetry';
import { checkout } from '#testing';
import { HTTP_STATUS } from '#transport';
import { errorAnswer } from '../http/error.filter.js';
import { ERRORS } from './errors.js';

const root = fileURLToPath(checkout);

/** Returns each refusal that the code of the services makes with a literal code, as `status code`. */
function refusals(): string[] {
  const found = ['apps', 'libs']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(root, folder, path),
      ),
    )
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.includes('/testing/'))
    .flatMap((path) => [
      ...readFileSync(path, 'utf8').matchAll(/new Refusal\(\s*'([a-z-]+)',\s*'([A-Z_]+)'/g),
    ]);
  return [...new Set(found.map(([, kind, code]) => `${HTTP_STATUS[kind as RefusalKind]} ${code}`))];
}

const listed = Object.entries(ERRORS).flatMap(([status, { codes }]) =>
  codes.map((code) => `${status} ${code}`),
);

describe('the list of error codes', () => {
  it('contains the code of every `new Refusal` with a literal code', () => {
    const made = refusals();
    expect(made).toContain('402 PLAN_LIMIT');
    expect(made.filter((one) => !listed.includes(one))).toEqual([]);
  });

  it.each([400, 404, 408, 413, 415, 431])(
    'contains the code that the HTTP layer returns with the status %s',
    (given) => {
      const { status, body } = errorAnswer({ statusCode: given }, createLogger('spec', 'silent'));
      expect(listed).toContain(`${status} ${body.code}`);
    },
  );
});
