/** The models themselves, for benches. Services read in threads: importing this loads dictionaries of 80 MB. */
export { languageOf } from '../language.js';
export { Reader } from '../reader.js';
export { loadWeights, type Weights } from '../weights.js';
