const asyncHooks = require('node:async_hooks');
const { pathToFileURL } = require('node:url');
const { compiledFile } = require('./compiled.cjs');

const CIRCUS = /[\\/]node_modules[\\/]jest-circus[\\/]/;

/** The property of the process in which jest-circus keeps the functions that handle its events. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

const { AsyncLocalStorage } = asyncHooks;
const ORIGINAL = Object.getOwnPropertyDescriptor(asyncHooks, 'AsyncLocalStorage');
/** The storages of the current copy of jest-circus. */
const storages = [];

/**
 * Loads spec files for jest as native modules of Node. jest's own runtime has a virtual machine context for
 * each file, and loads every module again in it. Here the files of a worker share the modules that they
 * import, so each module is loaded and compiled once. Therefore `jest.mock` does not exist, and counters of a module
 * keep their values from file to file.
 */
module.exports = class NativeRuntime {
  constructor(_projectConfig, environment) {
    this.environment = environment;
    // jest-circus keeps the tests of a file in its own modules, so each file needs new copies of these
    // modules.
    for (const file of Object.keys(require.cache)) if (CIRCUS.test(file)) delete require.cache[file];
    // Otherwise the handlers of all earlier files would handle and report each event again.
    delete globalThis[EVENT_HANDLERS];
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(file) {
    return import(pathToFileURL(compiledFile(file)).href);
  }

  // Node 20 writes into each promise for each storage that is not disabled: the storages of a hundred copies
  // would slow everything down.
  requireInternalModule(file) {
    const value = class extends AsyncLocalStorage {
      constructor() {
        super();
        storages.push(this);
      }
    };
    // The property is a getter on Node 24, so that it cannot be assigned.
    Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { configurable: true, value });
    try {
      return require(file);
    } finally {
      Object.defineProperty(asyncHooks, 'AsyncLocalStorage', ORIGINAL);
    }
  }

  requireModule(file) {
    return require(file);
  }

  teardown() {
    this.environment.moduleMocker.restoreAllMocks();
    for (const storage of storages.splice(0)) storage.disable();
  }

  // Other methods that jest calls, which have no effect here.
  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}
  getSourceMaps() {
    return new Map();
  }
  getAllCoverageInfoCopy() {}
};
