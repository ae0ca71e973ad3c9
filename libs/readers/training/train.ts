import { mkdirSync, writeFileSync } from 'node:fs';
import { writeArtefact, type ModelCard } from '../artefact.js';
import { LOCAL_READER } from '../local-reader.js';
import { SIGNAL_NAMES, SIGNALS } from '../relevance/layer.js';
import { ENGLISH_ROWS, MULTILINGUAL_ROWS } from '../sentiment/mood.js';
import { lexiconOf, storedNumbers, WEIGHTS_FILE } from '../weights.js';
import { DATA_FOLDER, missingFiles } from './data.js';
import { lexiconLines } from './lexicons.js';
import { ordinaryWords } from './ordinary-words.js';
import {
  ENGLISH_FILES,
  GOLD_FILE,
  labelledRows,
  linearExamples,
  MULTILINGUAL_FILE,
} from './sentiment-data.js';
import { trainLinear } from './train-linear.js';

// Makes the weights of the local reader again: `npm run readings:train`. See docs/readings.md.

const SETTINGS = { epochs: 5, rate: 0.5, l2: 2e-5 };
const PRUNE = 0.08;

function train(folder: string): void {
  const lexicon = lexiconLines();
  say(`${lexicon.length} words with a valence`);
  const rows = labelledRows(folder, ENGLISH_FILES);
  say(`English: ${rows.length} posts`);
  const english = trainLinear(linearExamples(rows, lexiconOf(lexicon)), {
    rows: ENGLISH_ROWS,
    prune: PRUNE,
    ...SETTINGS,
  });
  const foreign = labelledRows(folder, { [MULTILINGUAL_FILE]: 1 });
  say(`other languages: ${foreign.length} posts`);
  const multilingual = trainLinear(linearExamples(foreign), {
    rows: MULTILINGUAL_ROWS,
    prune: PRUNE,
    ...SETTINGS,
  });
  const relevance = Float32Array.from(SIGNAL_NAMES, (name) => SIGNALS[name]);
  const { numbers, settings } = storedNumbers({
    english,
    network: undefined,
    multilingual,
    networkPart: 0.7,
    relevance,
  });
  const card: ModelCard = {
    version: LOCAL_READER.version,
    trainedOn: { english: rows.length, multilingual: foreign.length },
    lexicon,
    ordinaryWords: ordinaryWords(rows.map(({ text }) => text)),
    settings,
  };
  const bytes = writeArtefact({ card, numbers });
  mkdirSync(new URL('.', WEIGHTS_FILE), { recursive: true });
  writeFileSync(WEIGHTS_FILE, bytes);
  say(`${WEIGHTS_FILE.pathname}: ${bytes.length} bytes`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const missing = missingFiles(DATA_FOLDER, [...Object.keys(ENGLISH_FILES), MULTILINGUAL_FILE, GOLD_FILE]);
if (missing.length > 0) {
  say(
    `The weights cannot be made again, because data is missing. READINGS_DATA names its folder (now ${DATA_FOLDER}).`,
  );
  for (const path of missing) say(`missing: ${path}`);
  process.exit(1);
}
train(DATA_FOLDER);
