const { pathToFileURL } = require('node:url');
const { compiledFile } = require('./compiled.cjs');

/**
 * Loads spec files for jest: each is Node's own module in a process of its own (`workerIdleMemoryLimit: 0`), without the
 * virtual machine context of jest's runtime, which keeps every module of a suite in memory. So `jest.mock` does not exist.
 */
module.exports = class NativeRuntime {
  constructor(_projectConfig, environment) {
    this.environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(file) {
    return import(pathToFileURL(compiledFile(file)).href);
  }

  requireInternalModule(file) {
    return require(file);
  }

  requireModule(file) {
    return require(file);
  }

  teardown() {
    this.environment.moduleMocker.restoreAllMocks();
  }

  // What jest asks of a runtime besides, and what has no meaning here.
  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}
  getSourceMaps() {
    return new Map();
  }
  getAllCoverageInfoCopy() {}
};
