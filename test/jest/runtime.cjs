const { pathToFileURL } = require('node:url');
const { compiledFile } = require('./compiled.cjs');

const CIRCUS = /[\\/]node_modules[\\/]jest-circus[\\/]/;

/**
 * Loads spec files for jest: each is Node's own module, without the virtual machine context of jest's runtime,
 * which loads every module again for each file. The files of a worker share the modules they import, so that these are loaded
 * and compiled once. So `jest.mock` does not exist, and what a module counts goes on from file to file.
 */
module.exports = class NativeRuntime {
  constructor(_projectConfig, environment) {
    this.environment = environment;
    // jest-circus keeps the tests of a file in its modules: each file needs fresh ones.
    for (const file of Object.keys(require.cache)) if (CIRCUS.test(file)) delete require.cache[file];
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
