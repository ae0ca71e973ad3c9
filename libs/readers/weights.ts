import { readFileSync } from 'node:fs';
import { readArtefact, type ModelCard, type Numbers } from './artefact.js';
import type { Lexicon } from './sentiment/lexicon.js';
import type { LinearModel } from './sentiment/linear.js';
import type { Network } from './sentiment/network.js';

/** Everything that is learned. */
export interface Weights {
  card: ModelCard;
  lexicon: Lexicon;
  /** English posts, by words, characters and lexicon. */
  english: LinearModel;
  /** English posts, by sentence embedding and lexicon. */
  network: Network | undefined;
  /** Posts in other languages, by characters. */
  multilingual: LinearModel;
  /** Part of the network in the mood of an English post. */
  networkPart: number;
  /** Weights of the signals of relevance, in their order. */
  relevance: Float32Array;
  /** English words that are frequent in lower case: a name among them says little. */
  ordinaryWords: ReadonlySet<string>;
}

/** The weights that are part of the checkout. It is at the same place relative to `dist` and `dist-test`. */
export const WEIGHTS_FILE = new URL('../../../libs/readers/weights/local.bin', import.meta.url);

/** @throws Error if the file is absent or not in the format of this version */
export function loadWeights(file: URL = WEIGHTS_FILE): Weights {
  const { card, numbers } = readArtefact(readFileSync(file));
  const setting = (name: string) => wanted(card.settings[name], name);
  const floats = (name: string) => wanted(numbers.get(name), name) as Float32Array;
  const linear = (name: string): LinearModel => ({
    rows: wanted(numbers.get(`${name}.rows`), name) as Int8Array,
    scale: setting(`${name}.scale`),
    dense: floats(`${name}.dense`),
  });
  return {
    card,
    lexicon: lexiconOf(card.lexicon),
    english: linear('english'),
    network: numbers.has('network.first')
      ? {
          inputs: setting('network.inputs'),
          hidden: setting('network.hidden'),
          first: floats('network.first'),
          second: floats('network.second'),
        }
      : undefined,
    multilingual: linear('multilingual'),
    networkPart: setting('network.part'),
    relevance: floats('relevance'),
    ordinaryWords: new Set(card.ordinaryWords),
  };
}

/** The numbers of the models under the names that `loadWeights` reads. */
export function storedNumbers(weights: Omit<Weights, 'card' | 'lexicon' | 'ordinaryWords'>): {
  numbers: Map<string, Numbers>;
  settings: Record<string, number>;
} {
  const { english, network, multilingual, networkPart, relevance } = weights;
  return {
    numbers: new Map<string, Numbers>([
      ['english.rows', english.rows],
      ['english.dense', english.dense],
      ...(network
        ? ([
            ['network.first', network.first],
            ['network.second', network.second],
          ] as const)
        : []),
      ['multilingual.rows', multilingual.rows],
      ['multilingual.dense', multilingual.dense],
      ['relevance', relevance],
    ]),
    settings: {
      'english.scale': english.scale,
      'multilingual.scale': multilingual.scale,
      ...(network && { 'network.inputs': network.inputs, 'network.hidden': network.hidden }),
      'network.part': networkPart,
    },
  };
}

/** A map, because a plain object answers `constructor` with a function. */
export function lexiconOf(lines: readonly string[]): Lexicon {
  return new Map(
    lines.map((line) => {
      const [word = '', vader, afinn] = line.split(' ');
      return [word, [Number(vader), Number(afinn)]] as const;
    }),
  );
}

function wanted<T>(value: T | undefined, name: string): T {
  if (value === undefined)
    throw new Error(`the weights of the local reader lack ${name}: run npm run readings:train`);
  return value;
}
