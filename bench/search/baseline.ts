const K1 = 1.2;
const B = 0.75;

/** Words that do not tell what a text is about. All other words are content words. */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be been but by can could did do does for from get had has have he her
  his how i if in into is it its i'm just like me more my no not of on or our out she should so some than that the their
  them then there these they this to too up us was we were what when where which who why will with would you your`.split(
    /\s+/,
  ),
);

/** Returns the words of a text in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu) ?? [];
}

export function contentWords(text: string): Set<string> {
  return new Set(wordsOf(text).filter((word) => !FUNCTION_WORDS.has(word)));
}

/** A search that compares only words: Okapi BM25. */
export class Bm25 {
  private readonly counts: Map<string, number>[];
  private readonly lengths: number[];
  private readonly documents = new Map<string, number>();
  private readonly mean: number;

  constructor(texts: readonly string[]) {
    const words = texts.map(wordsOf);
    this.lengths = words.map(({ length }) => length);
    this.mean = this.lengths.reduce((sum, length) => sum + length, 0) / texts.length;
    this.counts = words.map((all) => {
      const counts = new Map<string, number>();
      for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const word of counts.keys()) this.documents.set(word, (this.documents.get(word) ?? 0) + 1);
      return counts;
    });
  }

  /** Returns the indices of the best texts, the best first. */
  best(query: string, count: number): number[] {
    const words = [...new Set(wordsOf(query))];
    const scores = this.counts.map((counts, n) =>
      words.reduce((sum, word) => sum + this.part(counts, n, word), 0),
    );
    return [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, count);
  }

  private part(counts: ReadonlyMap<string, number>, n: number, word: string): number {
    const found = counts.get(word);
    if (!found) return 0;
    const documents = this.documents.get(word) ?? 0;
    const rarity = Math.log(1 + (this.counts.length - documents + 0.5) / (documents + 0.5));
    const length = 1 - B + (B * this.lengths[n]!) / this.mean;
    return (rarity * found * (K1 + 1)) / (found + K1 * length);
  }
}

/** Sums over questions. An answer is unlike its question if the two share no content word. */
export class Sums {
  private questions = 0;
  private precise = 0;
  private withUnlike = 0;
  private hit = 0;
  private share = 0;

  /** @param top the number of found texts that are considered */
  constructor(private readonly top: number) {}

  add(found: readonly number[], answers: ReadonlySet<number>, unlike: ReadonlySet<number>): void {
    this.questions += 1;
    this.precise += found.filter((n) => answers.has(n)).length / this.top;
    if (unlike.size === 0) return;
    this.withUnlike += 1;
    const count = found.filter((n) => unlike.has(n)).length;
    this.hit += count > 0 ? 1 : 0;
    this.share += count / Math.min(this.top, unlike.size);
  }

  get precision(): number {
    return this.precise / this.questions;
  }

  /** Of the questions that have unlike answers: the share for which at least one unlike answer is found. */
  get hits(): number {
    return this.hit / this.withUnlike;
  }

  figures(): string[] {
    return [this.precision, this.hits, this.share / this.withUnlike].map((value) => value.toFixed(3));
  }
}

/** Returns Spearman's rank correlation; equal values share their rank. */
export function spearman(x: readonly number[], y: readonly number[]): number {
  const [a, b] = [ranksOf(x), ranksOf(y)];
  const middle = (x.length - 1) / 2;
  const sum = (of: (n: number) => number) => a.reduce((total, _, n) => total + of(n), 0);
  const [da, db] = [a, b].map((ranks) => (n: number) => ranks[n]! - middle) as [
    (n: number) => number,
    (n: number) => number,
  ];
  return sum((n) => da(n) * db(n)) / Math.sqrt(sum((n) => da(n) ** 2) * sum((n) => db(n) ** 2));
}

function ranksOf(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  const ranks: number[] = [];
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to += 1;
    for (let n = from; n < to; n += 1) ranks[order[n]!] = (from + to - 1) / 2;
    from = to;
  }
  return ranks;
}
