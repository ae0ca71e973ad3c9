import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';
import conformance from './test/rules.json' with { type: 'json' };

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  // Nest's injector reads the types that only swc (not esbuild) writes beside a decorated class.
  plugins: [swc.vite({ module: { type: 'es6' } })],
  resolve: { alias: [{ find: /^#(.*)$/, replacement: `${root}libs/$1/index.ts` }] },
  test: {
    include: ['{apps,libs,test,bench}/**/*.spec.ts'],
    // The rules of the interface: a test names those that it holds. A misspelt one fails the run.
    tags: Object.values(conformance.rules).flatMap((section) =>
      Object.keys(section).map((name) => ({ name })),
    ),
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
