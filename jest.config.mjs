export default {
  roots: ['apps', 'libs', 'test', 'bench'].map((folder) => `<rootDir>/${folder}`),
  testMatch: ['**/*.spec.ts'],
  // tsc compiles the specs (test/jest/global-setup.mjs), and they run as Node's own modules (test/jest/runtime.cjs).
  transform: {},
  globalSetup: '<rootDir>/test/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/jest/global-teardown.mjs',
  runtime: '<rootDir>/test/jest/runtime.cjs',
  testEnvironment: '<rootDir>/test/jest/environment.cjs',
  maxWorkers: 2,
  // A worker whose heap is larger than this after a spec file is replaced.
  workerIdleMemoryLimit: '600MB',
  testTimeout: 20_000,
};
