export default {
  roots: ['apps', 'clients', 'libs', 'test', 'bench'].map((folder) => `<rootDir>/${folder}`),
  // `npm run test:long` runs the long specs.
  testMatch: ['**/*.spec.ts', '!**/*.long.spec.ts'],
  // tsc compiles the specs (test/jest/global-setup.mjs), and they run as Node's own modules (test/jest/runtime.cjs).
  transform: {},
  globalSetup: '<rootDir>/test/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/jest/global-teardown.mjs',
  runtime: '<rootDir>/test/jest/runtime.cjs',
  testSequencer: '<rootDir>/test/jest/sequencer.cjs',
  testEnvironment: '<rootDir>/test/jest/environment.cjs',
  // One more than the cores of a small machine: many specs wait for leases and redeliveries.
  maxWorkers: 3,
  // A worker whose heap is larger than this after a spec file is replaced.
  workerIdleMemoryLimit: '2GB',
  testTimeout: 20_000,
};
