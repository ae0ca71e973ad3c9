import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { generateApi } from 'swagger-typescript-api';
import { checkout } from '#testing';
import { openApiDocument } from './document.js';

const TSC = fileURLToPath(new URL('node_modules/typescript-native/bin/tsc', checkout));
const folder = mkdtempSync(join(tmpdir(), 'earshot-generators-'));
const document = () => JSON.parse(JSON.stringify(openApiDocument())) as object;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the files and compiles them strictly. @returns what the compiler prints: nothing if they are correct */
function compile(files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'ES2022',
    '--lib',
    'ES2022,DOM',
    '--module',
    'ESNext',
  ];
  const paths = Object.keys(files).map((name) => join(folder, name));
  return spawnSync(process.execPath, [TSC, ...options, '--types', '', ...paths], { encoding: 'utf8' }).stdout;
}

describe('the generator', () => {
  it('openapi-typescript makes types that compile, with events that are distinguished by their type', async () => {
    const types = astToString(await openapiTS(document() as Parameters<typeof openapiTS>[0]));
    const use = `
      import type { components, paths } from './paths';
      type Event = components['schemas']['Envelope'];
      export function authorOf(event: Event): string | null | undefined {
        if (event.type === 'hn_item.created') return event.item.author;
        if (event.type === 'keyword.paused') return event.data.reason;
        return event.id;
      }
      export type Page = paths['/v1/mentions']['get']['responses'][200]['content']['application/json'];
      export const titleOf = (page: Page): string | null | undefined => page.data[0]?.title;
    `;
    expect(compile({ 'paths.ts': types, 'use.ts': use })).toBe('');
  });

  it('swagger-typescript-api makes a client that compiles', async () => {
    const { files } = await generateApi({
      spec: document() as NonNullable<Parameters<typeof generateApi>[0]>['spec'],
      output: false,
      silent: true,
    } as Parameters<typeof generateApi>[0]);
    const [client] = files;
    const use = `
      import { Api } from './client';
      const earshot = new Api({ baseUrl: 'http://127.0.0.1:8080' });
      export const titles = async (): Promise<unknown> =>
        (await earshot.v1.listMentions({ q: ['acme'] })).data.data.map(({ title }) => title);
    `;
    expect(compile({ 'client.ts': client?.fileContent ?? '', 'use.ts': use })).toBe('');
  });
});
