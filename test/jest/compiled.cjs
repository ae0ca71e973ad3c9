const { dirname, join, relative } = require('node:path');

const root = dirname(dirname(__dirname));

/** Where the sources and their specs are compiled to for a test run. */
const compiledRoot = join(root, 'dist-test');

/** The compiled file of a source file. */
const compiledFile = (source) => join(compiledRoot, relative(root, source)).replace(/\.ts$/, '.js');

module.exports = { root, compiledRoot, compiledFile };
