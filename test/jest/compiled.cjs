const { dirname, join, relative } = require('node:path');

const root = dirname(dirname(__dirname));

/** The folder with the compiled sources and specs of a test run. */
const compiledRoot = join(root, 'dist-test');

/** Returns the path of the compiled file of a source file. */
const compiledFile = (source) => join(compiledRoot, relative(root, source)).replace(/\.ts$/, '.js');

module.exports = { root, compiledRoot, compiledFile };
