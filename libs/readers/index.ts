export { languageOf } from './language.js';
export { LOCAL_READER, startLocalReader } from './local-reader.js';
export { Reader } from './reader.js';
export type { LocalReader, LocalReading, ReadItem, ReadRequest, ReadSubject } from './reading.js';
export { loadWeights, type Weights } from './weights.js';
