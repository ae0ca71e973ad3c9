import type { ReadAndCorrected } from '../../reads/accuracy-reads.js';

/** How well one version of a reader agrees with a person's corrections. */
export interface Accuracy {
  reader: string;
  model: string;
  version: string;
  /** Number of corrected mentions, including mentions whose correction equals the reading. */
  n: number;
  /**
   * The share of corrected mentions for which the person and the reader chose the same value. Like all shares here, it
   * is a number from 0 to 1.
   */
  agreement: number;
  /** Mean of the recall of all values that a person has set. */
  macroRecall: number;
  /** Mean of the F1 scores of all values that a person has set. */
  macroF1: number;
  /**
   * The figures of each value that a person or the reader chose. `n` is the number of times that a person chose the
   * value. `precision` is null if the reader never chose the value. `recall` is null if no person chose the value.
   */
  byValue: { value: string; n: number; precision: number | null; recall: number | null }[];
  /** `count`: number of mentions for which the reader found `read` and a person chose `corrected`. */
  confusion: { corrected: string; read: string; count: number }[];
}

/**
 * Returns one result for each version of each reader. Macro averages give each value the same weight, as in Sokolova and
 * Lapalme (2009). `macroF1` is the mean of the F1 scores, not the F1 score of the mean precision and the mean recall.
 */
export function accuracyOf(counts: readonly ReadAndCorrected[]): Accuracy[] {
  const versions = [...new Set(counts.map(versionOf))];
  return versions.map((version) => ofVersion(counts.filter((one) => versionOf(one) === version)));
}

function versionOf({ reader, model, version }: ReadAndCorrected): string {
  return JSON.stringify([reader, model, version]);
}

function ofVersion(counts: readonly ReadAndCorrected[]): Accuracy {
  const { reader = '', model = '', version = '' } = counts[0] ?? {};
  const sum = (among: readonly ReadAndCorrected[]) => among.reduce((total, { count }) => total + count, 0);
  const n = sum(counts);
  const isRight = ({ read, corrected }: ReadAndCorrected) => read === corrected;
  const values = [...new Set(counts.flatMap(({ read, corrected }) => [read, corrected]))].sort();
  const byValue = values.map((value) => {
    const right = sum(counts.filter((one) => one.read === value && isRight(one)));
    const read = sum(counts.filter((one) => one.read === value));
    const actual = sum(counts.filter((one) => one.corrected === value));
    return {
      value,
      n: actual,
      precision: read === 0 ? null : rounded(right / read),
      recall: actual === 0 ? null : rounded(right / actual),
      f1: actual === 0 ? null : (2 * right) / (read + actual),
    };
  });
  const present = byValue.filter(({ recall }) => recall !== null);
  const mean = (of: (one: (typeof present)[number]) => number) =>
    rounded(present.reduce((total, one) => total + of(one), 0) / Math.max(1, present.length));
  return {
    ...{ reader, model, version, n },
    agreement: rounded(sum(counts.filter(isRight)) / Math.max(1, n)),
    macroRecall: mean(({ recall }) => recall ?? 0),
    macroF1: mean(({ f1 }) => f1 ?? 0),
    byValue: byValue.map(({ value, n: count, precision, recall }) => ({
      value,
      n: count,
      precision,
      recall,
    })),
    confusion: counts.map(({ corrected, read, count }) => ({ corrected, read, count })),
  };
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
