const asyncHooks = require('node:async_hooks');
const { pathToFileURL } = require('node:url');
const { compiledFile } = require('./compiled.cjs');

const CIRCUS = /[\\/]node_modules[\\/]jest-circus[\\/]/;

const { AsyncLocalStorage } = asyncHooks;
/** Those of the present copy of jest-circus. */
const storages = [];

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

  // Node writes into each promise for each storage that is not disabled: those of a hundred copies slow everything down.
  requireInternalModule(file) {
    asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
      constructor() {
        super();
        storages.push(this);
      }
    };
    try {
      return require(file);
    } finally {
      asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    }
  }

  requireModule(file) {
    return require(file);
  }

  teardown() {
    this.environment.moduleMocker.restoreAllMocks();
    for (const storage of storages.splice(0)) storage.disable();
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
