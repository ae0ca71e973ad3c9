import { existsSync, readFileSync } from 'node:fs';

/** The folder with the labelled data, beside the checkout. The folder can be absent. */
const READINGS = new URL('../../../../shared/readings/', import.meta.url);

/** A text with its intent. */
export interface Labelled {
  intent: string;
  text: string;
}

/** Questions and texts of one data set: a text answers a question of the same intent. */
export interface Retrieval {
  name: string;
  texts: Labelled[];
  queries: Labelled[];
}

/** A pair of sentences, and how similar people found them, from 0 to 5. */
export interface Similarity {
  score: number;
  a: string;
  b: string;
}

/** Tests whether the labelled data exists. */
export function hasReadings(): boolean {
  return existsSync(READINGS);
}

/** Returns a sample of a data set, the same in each run. */
export function retrieval(name: string, texts: number, queries: number): Retrieval {
  const random = seeded(7);
  const read = (part: string) =>
    rowsOf(`retrieval/${name}.${part}.tsv`).map(([intent = '', text = '']) => ({ intent, text }));
  return {
    name,
    texts: sample(read('train'), texts, random),
    queries: sample(read('queries'), queries, random),
  };
}

export function similarities(): Similarity[] {
  return rowsOf('retrieval/stsb-en.test.tsv').map(([score, a = '', b = '']) => ({
    score: Number(score),
    a,
    b,
  }));
}

function rowsOf(file: string): string[][] {
  const lines = readFileSync(new URL(file, READINGS), 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => line.split('\t'));
}

function sample<T>(all: readonly T[], count: number, random: () => number): T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () => {
    const at = Math.floor(random() * left.length);
    const [taken] = left.splice(at, 1);
    return taken as T;
  });
}

/** Returns a generator of numbers from 0 to 1 (the generator of Numerical Recipes). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
