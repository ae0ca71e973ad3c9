import { statSync } from 'node:fs';
import { readArtefact, writeArtefact } from './artefact.js';
import { LOCAL_READER } from './local-reader.js';
import { loadWeights, WEIGHTS_FILE } from './weights.js';

const card = {
  version: '9',
  trainedOn: { english: 1 },
  lexicon: ['good 2 3'],
  ordinaryWords: ['word'],
  settings: { part: 0.5 },
};

describe('the weights file', () => {
  it('is read as it was written', () => {
    const artefact = {
      card,
      numbers: new Map<string, Int8Array | Float32Array>([
        ['small', Int8Array.of(-127, 0, 127)],
        ['exact', Float32Array.of(0.25, -1e9)],
      ]),
    };
    expect(readArtefact(writeArtefact(artefact))).toEqual(artefact);
  });

  it('has the same bytes for the same models', () => {
    const bytes = () => writeArtefact({ card, numbers: new Map([['a', Int8Array.of(1)]]) });
    expect(Buffer.from(bytes()).equals(Buffer.from(bytes()))).toBe(true);
  });

  it('is refused if it is incomplete or absent', () => {
    const other = writeArtefact({ card, numbers: new Map() });
    expect(() => readArtefact(other.subarray(0, 10))).toThrow();
    expect(() => loadWeights(new URL('absent.bin', WEIGHTS_FILE))).toThrow(/absent\.bin/);
  });

  it('is part of the checkout, is small, and has the version of the readings', () => {
    expect(statSync(WEIGHTS_FILE).size).toBeLessThan(2.5 * 1024 * 1024);
    expect(loadWeights().card.version).toBe(LOCAL_READER.version);
  });
});
