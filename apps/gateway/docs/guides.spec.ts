import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';
import { Guides } from './guides.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earshot-guides-'));
  mkdirSync(join(folder, 'docs/adr'), { recursive: true });
  writeFileSync(join(folder, 'docs/api.md'), '# API');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Returns the HTML of `docs/README.md` with this text. */
function rendered(text: string): string | undefined {
  writeFileSync(join(folder, 'docs/README.md'), text);
  return new Guides(`${folder}/`).guide('/docs')?.html.trim();
}

describe('a guide', () => {
  it('links to other guides and to other sites', () => {
    expect(rendered('[API](api.md#keys), [here](#top), [a site](https://example.org/)')).toBe(
      '<p><a href="/docs/api#keys">API</a>, <a href="#top">here</a>, <a href="https://example.org/">a site</a></p>',
    );
  });

  it('shows only the text of a link to a folder, to source code or to a page that is not there', () => {
    expect(
      rendered('[decisions](adr), [`code`](../libs/x.ts), [deploy](../deploy/README.md), [API](api.md)'),
    ).toBe('<p>decisions, <code>code</code>, deploy, <a href="/docs/api">API</a></p>');
  });

  it('has an address in every link if the guide belongs to this repository', () => {
    const guides = new Guides(fileURLToPath(checkout));
    const addresses = guides.groups.flatMap((group) => group.guides.map(({ address }) => address));
    expect(addresses).toEqual(expect.arrayContaining(['/docs/deploy', '/docs/examples/receivers']));
    expect(addresses.filter((address) => /href="#?"/.test(guides.guide(address)?.html ?? ''))).toEqual([]);
  });
});
