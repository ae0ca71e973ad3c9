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
  // jest replaces a worker if its heap is larger than this when a spec file has ended.
  workerIdleMemoryLimit: '2GB',
  testTimeout: 20_000,
};
