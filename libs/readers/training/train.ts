import { mkdirSync, writeFileSync } from 'node:fs';
import { SentenceEncoder } from '#embeddings';
import { writeArtefact, type ModelCard } from '../artefact.js';
import { GIST_INTENTS, gistInput } from '../intent/gist.js';
import { LOCAL_READER } from '../local-reader.js';
import { prepareItem } from '../reader.js';
import { relevanceSubject } from '../relevance/subject.js';
import { lexiconFigures, type Lexicon } from '../sentiment/lexicon.js';
import { tokenise } from '../sentiment/features.js';
import {
  ENGLISH_ROWS,
  englishMood,
  MULTILINGUAL_ROWS,
  networkInput,
  type MoodModels,
} from '../sentiment/mood.js';
import { lexiconOf, storedNumbers, WEIGHTS_FILE } from '../weights.js';
import { DATA_FOLDER, missingFiles } from './data.js';
import { gistRows, STANCE_FILE } from './gist-data.js';
import { lexiconLines } from './lexicons.js';
import { ordinaryWords } from './ordinary-words.js';
import { observedPosts } from './relevance-data.js';
import {
  ENGLISH_FILES,
  GOLD_FILE,
  labelledRows,
  linearExamples,
  MULTILINGUAL_FILE,
  type Labelled,
} from './sentiment-data.js';
import { trainLinear } from './train-linear.js';
import { trainNetwork, type NetworkExample } from './train-network.js';
import { trainRelevance } from './train-relevance.js';

// Trains the weights of the local reader: `npm run readings:train`. See docs/readings.md.

const LINEAR = { epochs: 5, rate: 0.5, l2: 2e-5, prune: 0.08 };
const NETWORK = { outputs: 3, hidden: 128, epochs: 12, batch: 128, rate: 0.002, dropout: 0.5, decay: 0.02 };
const GIST = {
  outputs: GIST_INTENTS.length,
  hidden: 32,
  epochs: 60,
  batch: 32,
  rate: 0.002,
  dropout: 0.6,
  decay: 0.3,
};
/** Rare intents get more weight: the weight of an intent is 1 divided by its share, to the power of this number. */
const GIST_POWER = 0.8;
const NETWORK_PART = 0.7;
/** The network is trained on every second post of this file. This is enough, and takes less time. */
const NETWORK_SKIPS = 'sentiment/reddit.train.tsv';

async function train(folder: string): Promise<void> {
  const lines = lexiconLines();
  const lexicon = lexiconOf(lines);
  const rows = labelledRows(folder, ENGLISH_FILES);
  print(`English: ${rows.length} posts`);
  const english = trainLinear(linearExamples(rows, lexicon), { rows: ENGLISH_ROWS, ...LINEAR });
  const encoder = await SentenceEncoder.load();
  const network = trainNetwork(await networkExamples(encoder, rows, lexicon), NETWORK);
  const foreign = labelledRows(folder, { [MULTILINGUAL_FILE]: 1 });
  print(`other languages: ${foreign.length} posts`);
  const multilingual = trainLinear(linearExamples(foreign), { rows: MULTILINGUAL_ROWS, ...LINEAR });
  const models: MoodModels = { lexicon, english, network, networkPart: NETWORK_PART, multilingual };
  const ordinary = ordinaryWords(rows.map(({ text }) => text));
  const gistExamples = await examplesOfGist(encoder, folder, models, ordinary);
  print(`intents: ${gistExamples.length} posts`);
  const gist = trainNetwork(gistExamples, GIST);
  const posts = observedPosts(new Set(ordinary), 'tune');
  print(`relevance: ${posts.length} posts`);
  const { numbers, settings } = storedNumbers({ ...models, gist, relevance: trainRelevance(posts) });
  const trainedOn = {
    english: rows.length,
    multilingual: foreign.length,
    intents: gistExamples.length,
    relevance: posts.length,
  };
  const card: ModelCard = {
    version: LOCAL_READER.version,
    trainedOn,
    lexicon: lines,
    ordinaryWords: ordinary,
    settings,
  };
  const bytes = writeArtefact({ card, numbers });
  mkdirSync(new URL('.', WEIGHTS_FILE), { recursive: true });
  writeFileSync(WEIGHTS_FILE, bytes);
  report(card, bytes.length);
}

async function networkExamples(
  encoder: SentenceEncoder,
  rows: readonly Labelled[],
  lexicon: Lexicon,
): Promise<NetworkExample[]> {
  const used = rows.filter(({ file }, at) => file !== NETWORK_SKIPS || at % 2 === 0);
  print(`sentence embeddings of ${used.length} posts, about two minutes …`);
  const examples: NetworkExample[] = [];
  for (const { text, label, weight } of used) {
    const tokens = tokenise(text);
    const figures = lexiconFigures(lexicon, tokens.written, tokens.folded);
    examples.push({ input: networkInput(await embedded(encoder, text), figures), label, weight });
  }
  return examples;
}

async function examplesOfGist(
  encoder: SentenceEncoder,
  folder: string,
  models: MoodModels,
  ordinary: readonly string[],
): Promise<NetworkExample[]> {
  const words = new Set(ordinary);
  const rows = gistRows(folder);
  const sizes = GIST_INTENTS.map((_, kind) => rows.filter(({ label }) => label === kind).length);
  const examples: NetworkExample[] = [];
  for (const { subject, text, label } of rows) {
    const item = { source: 'x', kind: 'post', title: '', text, titleOfParent: false, url: '', terms: [] };
    const about = { names: [subject], role: 'own' as const };
    const { marked, modelText } = prepareItem(
      { item, subject: about, analysis: true, embed: false },
      relevanceSubject(about, words),
    );
    const embedding = await embedded(encoder, modelText);
    const weight = (rows.length / (GIST_INTENTS.length * (sizes[label] || 1))) ** GIST_POWER;
    examples.push({
      input: gistInput(marked, embedding, englishMood(models, modelText, embedding)),
      label,
      weight,
    });
  }
  return examples;
}

async function embedded(encoder: SentenceEncoder, text: string): Promise<Float32Array> {
  const [embedding] = await encoder.encode([text]);
  if (!embedding) throw new Error('the sentence encoder returned no embedding');
  return embedding;
}

function report({ version, trainedOn, lexicon, settings }: ModelCard, bytes: number): void {
  console.log(`local reader, version ${version}: ${bytes} bytes`);
  for (const [what, count] of Object.entries(trainedOn)) console.log(`  ${what}: ${count} posts`);
  console.log(`  lexicon: ${lexicon.length} words`);
  for (const [name, value] of Object.entries(settings)) console.log(`  ${name}: ${value}`);
  console.log('Measure it with npm run bench:readings.');
}

function print(line: string): void {
  process.stderr.write(`${line}\n`);
}

const missing = missingFiles(DATA_FOLDER, [
  ...Object.keys(ENGLISH_FILES),
  MULTILINGUAL_FILE,
  STANCE_FILE,
  GOLD_FILE,
]);
if (missing.length > 0) {
  print(
    `The weights cannot be trained, because data files are missing. READINGS_DATA is the path of their folder (now ${DATA_FOLDER}).`,
  );
  for (const path of missing) print(`missing: ${path}`);
  process.exit(1);
}
await train(DATA_FOLDER);
