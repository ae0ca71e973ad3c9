import { readFileSync } from 'node:fs';
import { readArtefact, type ModelCard, type Numbers } from './artefact.js';
import type { Lexicon } from './sentiment/lexicon.js';
import type { LinearModel } from './sentiment/linear.js';
import type { MoodModels } from './sentiment/mood.js';
import type { Network } from './sentiment/network.js';

/** All trained weights. */
export interface Weights extends MoodModels {
  card: ModelCard;
  /** Classifies the intent of English posts in which no phrase matches. */
  gist: Network;
  /** Weights of the signals of relevance, in the order of `SIGNAL_NAMES`. */
  relevance: Float32Array;
  /**
   * English words that are often written in lower case. Such a word alone does not show that a text names the
   * subject.
   */
  ordinaryWords: ReadonlySet<string>;
}

/** The models among the weights, with their names in the file. */
export type StoredModels = Pick<
  Weights,
  'english' | 'network' | 'networkPart' | 'multilingual' | 'gist' | 'relevance'
>;

/** The weights in the checkout. The relative path is the same from `dist` and `dist-test`. */
export const WEIGHTS_FILE = new URL('../../../libs/readers/weights/local.bin', import.meta.url);

/** Loads the weights. @throws Error if the file is absent or not in the format of this version */
export function loadWeights(file: URL = WEIGHTS_FILE): Weights {
  const { card, numbers } = readArtefact(readFileSync(file));
  const setting = (name: string) => required(card.settings[name], name);
  const floats = (name: string) => required(numbers.get(name), name) as Float32Array;
  const linear = (name: string): LinearModel => ({
    rows: required(numbers.get(`${name}.rows`), name) as Int8Array,
    scale: setting(`${name}.scale`),
    dense: floats(`${name}.dense`),
  });
  const network = (name: string): Network => ({
    inputs: setting(`${name}.inputs`),
    hidden: setting(`${name}.hidden`),
    outputs: setting(`${name}.outputs`),
    first: floats(`${name}.first`),
    second: floats(`${name}.second`),
  });
  return {
    card,
    lexicon: lexiconOf(card.lexicon),
    english: linear('english'),
    network: network('network'),
    networkPart: setting('network.part'),
    multilingual: linear('multilingual'),
    gist: network('gist'),
    relevance: floats('relevance'),
    ordinaryWords: new Set(card.ordinaryWords),
  };
}

/** Returns the numbers and settings of the models, as `loadWeights` reads them. */
export function storedNumbers(models: StoredModels): {
  numbers: Map<string, Numbers>;
  settings: Record<string, number>;
} {
  const numbers = new Map<string, Numbers>([['relevance', models.relevance]]);
  const settings: Record<string, number> = { 'network.part': models.networkPart };
  for (const name of ['english', 'multilingual'] as const) {
    const { rows, scale, dense } = models[name];
    numbers.set(`${name}.rows`, rows).set(`${name}.dense`, dense);
    settings[`${name}.scale`] = scale;
  }
  for (const name of ['network', 'gist'] as const) {
    const { inputs, hidden, outputs, first, second } = models[name];
    numbers.set(`${name}.first`, first).set(`${name}.second`, second);
    Object.assign(settings, {
      [`${name}.inputs`]: inputs,
      [`${name}.hidden`]: hidden,
      [`${name}.outputs`]: outputs,
    });
  }
  return { numbers, settings };
}

/**
 * Reads the lines of a lexicon, each in the form `word vader afinn`. Returns a map, because a plain object would return
 * a function for the word `constructor`.
 */
export function lexiconOf(lines: readonly string[]): Lexicon {
  return new Map(
    lines.map((line) => {
      const [word = '', vader, afinn] = line.split(' ');
      return [word, [Number(vader), Number(afinn)]] as const;
    }),
  );
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined)
    throw new Error(`the weights of the local reader lack ${name}: run npm run readings:train`);
  return value;
}
