/**
 * The models, for benchmarks. Services use `startLocalReader` instead, because this import loads dictionaries of 80 MB.
 */
export { languageOf } from '../language.js';
export { Reader } from '../reader.js';
export { loadWeights, type Weights } from '../weights.js';
