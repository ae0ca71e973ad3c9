import { lexiconFigures, type Lexicon } from '../sentiment/lexicon.js';
import { tokenise } from '../sentiment/features.js';
import { groupsOf } from '../sentiment/mood.js';
import { normalised, withoutNames } from '../text/clean.js';
import { MOODS, rowsOf } from './data.js';
import type { Example } from './train-linear.js';

/** A labelled text. */
export interface Labelled {
  file: string;
  text: string;
  /** 0 negative, 1 neutral, 2 positive. */
  label: number;
  weight: number;
}

/** The English training files, with the weight of each of their rows. */
export const ENGLISH_FILES: Readonly<Record<string, number>> = {
  'sentiment/tweets.train.tsv': 1,
  'sentiment/reddit.train.tsv': 0.25,
  'sentiment/stackoverflow.train.tsv': 0.5,
  'sentiment/github.train.tsv': 0.5,
  'sentiment/jira.train.tsv': 0.5,
};
/**
 * There are few posts of developers, and no separate test file for them. So every fifth post is left out of the
 * training and used for measurements.
 */
const PARTLY_USED: ReadonlySet<string> = new Set([
  'sentiment/stackoverflow.train.tsv',
  'sentiment/github.train.tsv',
  'sentiment/jira.train.tsv',
]);
const LEFT_OUT = 5;
/** Labelled posts in other languages. */
export const MULTILINGUAL_FILE = 'sentiment/multilingual.train.tsv';
/** The posts of the measurements, which are never used for training. */
export const GOLD_FILE = 'gold/gold.tsv';

/** Rare classes get more weight: the weight of a class is 1 divided by its share, to the power of this number. */
const CLASS_POWER = 0.65;

/**
 * Returns the rows of the files in the form that the models read, with weights by class. Texts of the gold set are left
 * out.
 */
export function labelledRows(folder: string, files: Readonly<Record<string, number>>): Labelled[] {
  const gold = goldTexts(folder);
  const rows = Object.entries(files).flatMap(([file, weight]) =>
    rowsUsed(folder, file).map(({ label = '', text = '' }): Labelled => {
      return { file, text: asRead(text), label: MOODS.indexOf(label as (typeof MOODS)[number]), weight };
    }),
  );
  const kept = rows.filter(({ text, label }) => label >= 0 && !gold.has(beginning(text)));
  const sizes = [0, 1, 2].map((label) =>
    kept.reduce((sum, row) => sum + (row.label === label ? row.weight : 0), 0),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return kept.map((row) => ({
    ...row,
    weight: row.weight * (total / (3 * (sizes[row.label] || 1))) ** CLASS_POWER,
  }));
}

/** Returns the training examples of the linear model. */
export function linearExamples(rows: readonly Labelled[], lexicon?: Lexicon): Example[] {
  return rows.map(({ text, label, weight }) => {
    const tokens = tokenise(text);
    const figures = lexicon ? lexiconFigures(lexicon, tokens.written, tokens.folded) : new Float32Array(0);
    return { groups: groupsOf(tokens), figures, label, weight };
  });
}

function rowsUsed(folder: string, file: string): Record<string, string>[] {
  const rows = rowsOf(folder, file);
  return PARTLY_USED.has(file) ? rows.filter((_, at) => at % LEFT_OUT !== 0) : rows;
}

function goldTexts(folder: string): ReadonlySet<string> {
  return new Set(rowsOf(folder, GOLD_FILE).map(({ text = '' }) => beginning(asRead(text))));
}

function asRead(text: string): string {
  return withoutNames(normalised(text));
}

/** Returns the part of a text that is compared: only the beginning, because texts of the gold set are cut. */
function beginning(text: string): string {
  return text.slice(0, 60).toLowerCase();
}
