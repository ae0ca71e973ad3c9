/**
 * Measures the search for N terms in one post. It compares the two indexes of Earshot, an `indexOf` loop over all
 * terms, and the npm package modern-ahocorasick. They take turns in the rounds of one run, so that other load affects
 * all of them in the same way. The data are seeded, so only the times differ from run to run.
 * `npm run -s build && node dist/bench/matching.js`
 */
import AhoCorasick from 'modern-ahocorasick';
import DoubleArrayAhoCorasick from 'modern-ahocorasick/fast';
import { compile } from '#matching';
import type { MatchableText } from '#matching';
import { helpWanted } from './harness.js';
import { makePosts, makeTerms, seeded } from './matching-data.js';

helpWanted(`
Usage: npm run bench:matching

Measures the search for 1,000 to 100,000 terms in posts, compared with an indexOf loop and the npm package
modern-ahocorasick.
`);

const POSTS = 10_000;
const ROUNDS = 5;
/** The loop is timed on so many posts that it makes about this many comparisons. */
const LOOP_COMPARISONS = 2_000_000;
/** The npm package is timed on this many posts. */
const LIBRARY_POSTS = 1_000;

type Variant = { name: string; buildMs: number; posts: number; run(): number };

function timed<T>(run: () => T): [T, number] {
  const began = process.hrtime.bigint();
  const result = run();
  return [result, Number(process.hrtime.bigint() - began) / 1e6];
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

function ours(name: 'word' | 'contains', terms: string[], posts: MatchableText[]): Variant {
  const searches = terms.map((term, i) => ({ key: `${i}`, mode: name, terms: [term] }));
  const [matcher, buildMs] = timed(() => compile(searches));
  const run = () => posts.reduce((hits, post) => hits + matcher.match(post).length, 0);
  return { name, buildMs, posts: posts.length, run };
}

function loop(terms: string[], posts: MatchableText[]): Variant {
  const [folded, buildMs] = timed(() => terms.map((term) => term.toLowerCase()));
  const sample = posts.slice(0, Math.max(20, Math.round(LOOP_COMPARISONS / terms.length)));
  const run = () => {
    let hits = 0;
    for (const { text } of sample) {
      const lower = text.toLowerCase();
      for (const term of folded) if (lower.indexOf(term) >= 0) hits += 1;
    }
    return hits;
  };
  return { name: 'indexOf loop', buildMs, posts: sample.length, run };
}

function library(
  name: 'aho-corasick' | 'aho-corasick/fast',
  build: (terms: string[]) => { search(text: string): readonly unknown[] },
  terms: string[],
  posts: MatchableText[],
): Variant {
  const [automaton, buildMs] = timed(() => build(terms.map((term) => term.toLowerCase())));
  const sample = posts.slice(0, LIBRARY_POSTS);
  const run = () => sample.reduce((hits, { text }) => hits + automaton.search(text.toLowerCase()).length, 0);
  return { name, buildMs, posts: sample.length, run };
}

function compete(terms: string[], posts: MatchableText[]): void {
  const variants = [
    ours('word', terms, posts),
    ours('contains', terms, posts),
    loop(terms, posts),
    library('aho-corasick', (each) => new AhoCorasick(each), terms, posts),
    library('aho-corasick/fast', (each) => new DoubleArrayAhoCorasick(each), terms, posts),
  ];
  const micros = new Map(variants.map(({ name }) => [name, [] as number[]]));
  const hits = new Map<string, number>();
  // Round 0 warms up and does not count. The order rotates: no variant is always the first of a round.
  for (let round = 0; round <= ROUNDS; round++) {
    for (let i = 0; i < variants.length; i++) {
      const variant = variants[(i + round) % variants.length]!;
      const [count, ms] = timed(() => variant.run());
      if (round > 0) micros.get(variant.name)!.push((ms * 1000) / variant.posts);
      hits.set(variant.name, count);
    }
  }
  const loopRounds = micros.get('indexOf loop')!;
  const cells = (values: (string | number)[]) => values.map((value) => `${value}`.padStart(13)).join('');
  console.log(`\n${terms.length.toLocaleString('en')} terms, ${POSTS.toLocaleString('en')} posts`);
  console.log(
    ' '.repeat(19) + cells(['µs a post', 'loop / this', 'build ms', 'found a post', 'posts timed']),
  );
  for (const { name, buildMs, posts: timedPosts } of variants) {
    const rounds = micros.get(name)!;
    const ratio = median(rounds.map((value, i) => loopRounds[i]! / value));
    const times = `×${ratio.toFixed(ratio < 10 ? 2 : 0)}`;
    console.log(
      name.padEnd(19) +
        cells([
          median(rounds).toFixed(2),
          times,
          buildMs.toFixed(0),
          (hits.get(name)! / timedPosts).toFixed(2),
          timedPosts,
        ]),
    );
  }
}

const began = performance.now();
console.log(`Matching, medians of ${ROUNDS} interleaved rounds on Node ${process.version}.`);
console.log(
  'The loop and the npm package are timed on the first posts only. Ratios are medians of the ratios of each round.',
);
for (const size of [1_000, 10_000, 100_000]) {
  const random = seeded(42);
  const terms = makeTerms(random, size);
  compete(terms, makePosts(random, POSTS, terms));
}
console.log(`\n${((performance.now() - began) / 1000).toFixed(0)} s in all`);
