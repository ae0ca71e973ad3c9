import { CHARACTER_BUCKETS, gramsOf, tokenise, WORD_BUCKETS, type Tokens } from './features.js';
import { LEXICON_FIGURES, lexiconFigures, type Lexicon } from './lexicon.js';
import { linearMood, logSoftmax, mixedMood, type Groups, type LinearModel, type Mood } from './linear.js';
import { networkOutputs, type Network } from './network.js';

/** The models that read the mood of a text. */
export interface MoodModels {
  lexicon: Lexicon;
  english: LinearModel;
  network: Network;
  networkPart: number;
  multilingual: LinearModel;
}

/** Rows of the English linear model. */
export const ENGLISH_ROWS = WORD_BUCKETS + CHARACTER_BUCKETS;
/** Rows of the model for other languages, which has the same features without the lexicon. */
export const MULTILINGUAL_ROWS = WORD_BUCKETS + CHARACTER_BUCKETS;
const NO_FIGURES = new Float32Array(0);

/** Returns the hashed features of a text. In the rows of a model, the words come first, then the characters. */
export function groupsOf(tokens: Tokens): Groups {
  const { words, characters } = gramsOf(tokens);
  return [
    { buckets: words, from: 0 },
    { buckets: characters, from: WORD_BUCKETS },
  ];
}

/**
 * Returns the mood of an English text as log-probabilities.
 * @param text `withoutNames` has already replaced its links and @names
 * @param embedding the embedding from the sentence encoder; without it, only the linear model is used
 */
export function englishMood(models: MoodModels, text: string, embedding?: Float32Array): Mood {
  const tokens = tokenise(text);
  const figures = lexiconFigures(models.lexicon, tokens.written, tokens.folded);
  const linear = linearMood(models.english, groupsOf(tokens), figures);
  if (embedding === undefined) return linear;
  const [negative = 0, neutral = 0, positive = 0] = networkOutputs(
    models.network,
    networkInput(embedding, figures),
  );
  return mixedMood(linear, logSoftmax([negative, neutral, positive]), models.networkPart);
}

/** Returns the mood of a text in another language. */
export function foreignMood(models: MoodModels, text: string): Mood {
  return linearMood(models.multilingual, groupsOf(tokenise(text)), NO_FIGURES);
}

/**
 * Returns the input of the network: the embedding, then the lexicon figures. The embedding is scaled, so that all
 * numbers have about the same size.
 */
export function networkInput(embedding: Float32Array, figures: Float32Array): Float32Array {
  const input = new Float32Array(embedding.length + LEXICON_FIGURES);
  const scale = Math.sqrt(embedding.length) / 2;
  for (let n = 0; n < embedding.length; n++) input[n] = (embedding[n] as number) * scale;
  input.set(figures, embedding.length);
  return input;
}
