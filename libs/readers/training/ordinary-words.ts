const WORD = /(?<![\p{L}\p{N}#@_'])\p{L}{3,24}(?![\p{L}\p{N}_])/gu;
const MIN_USES = 3;
const MIN_LOWER_CASE_SHARE = 0.5;

/** Returns the words that the texts often contain in lower case, sorted. */
export function ordinaryWords(texts: readonly string[]): string[] {
  const uses = new Map<string, { all: number; lower: number }>();
  for (const text of texts)
    for (const [word] of text.matchAll(WORD)) {
      const lower = word.toLowerCase();
      const counts = uses.get(lower) ?? { all: 0, lower: 0 };
      counts.all += 1;
      if (word === lower) counts.lower += 1;
      uses.set(lower, counts);
    }
  return [...uses]
    .filter(([, { all, lower }]) => lower >= MIN_USES && lower >= all * MIN_LOWER_CASE_SHARE)
    .map(([word]) => word)
    .sort();
}
