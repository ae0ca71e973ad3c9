import { beginningOf } from '../domain/beginning-of.js';
import { searchTerms } from '../search/words.js';

/** A mention with the vector of its meaning. */
export interface MentionWithVector {
  id: string;
  text: string;
  /** A unit vector. */
  vector: Float32Array;
  /** The topic of the mention, as a language model stated it. */
  topic?: string | undefined;
}

/** Mentions about the same topic. */
export interface MentionGroup {
  /** Lower-case words with hyphens; unique in one answer. */
  key: string;
  label: string;
  mentionIds: string[];
}

/** Two groups become one if the cosine between their mentions is on average at least this. */
const NEAR = 0.45;
const WORDS_IN_LABEL = 3;
/** The key of the last group, which no other group gets. */
const OTHER = 'other';

/**
 * Puts mentions with a similar meaning into groups, the largest group first. Mentions that are not similar enough to
 * any group are in the last group, `other`. The same input always gives the same groups.
 */
export function group(mentions: readonly MentionWithVector[]): MentionGroup[] {
  const clusters = clustersOf(mentions);
  const alone = clusters.filter(({ length }) => length === 1).flat();
  const named = clusters.filter(({ length }) => length > 1).map((cluster) => groupOf(cluster, mentions));
  const groups = withUniqueKeys(named);
  return alone.length > 0 ? [...groups, { key: OTHER, label: 'Other', mentionIds: idsOf(alone) }] : groups;
}

/** Returns the groups: agglomerative clustering with average linkage. */
function clustersOf(mentions: readonly MentionWithVector[]): MentionWithVector[][] {
  const clusters = mentions.map((mention) => [mention]);
  const near = mentions.map((a) => mentions.map((b) => (a === b ? -1 : cosine(a.vector, b.vector))));
  for (;;) {
    const pair = nearest(near);
    if (!pair || near[pair[0]]![pair[1]]! < NEAR) break;
    const [a, b] = pair;
    const [sizeA, sizeB] = [clusters[a]!.length, clusters[b]!.length];
    near.forEach((row, n) => {
      if (n === a || n === b) return;
      const average = (sizeA * near[a]![n]! + sizeB * near[b]![n]!) / (sizeA + sizeB);
      near[a]![n] = row[a] = average;
    });
    clusters[a]!.push(...clusters[b]!);
    clusters.splice(b, 1);
    near.splice(b, 1);
    for (const row of near) row.splice(b, 1);
  }
  return clusters.sort((a, b) => b.length - a.length);
}

function nearest(near: readonly (readonly number[])[]): [number, number] | undefined {
  let best: [number, number] | undefined;
  for (let a = 0; a < near.length; a += 1)
    for (let b = a + 1; b < near.length; b += 1)
      if (!best || near[a]![b]! > near[best[0]]![best[1]]!) best = [a, b];
  return best;
}

/**
 * Names a group after the most frequent topic of its mentions. If no mention has a topic, the name consists of words
 * that are in many mentions of the group and in few other mentions. If there are no such words, the name is the
 * beginning of the first mention.
 */
function groupOf(cluster: readonly MentionWithVector[], all: readonly MentionWithVector[]): MentionGroup {
  const topic = mostFrequent(cluster.flatMap((one) => one.topic ?? []));
  if (topic !== undefined)
    return { key: keyOf([...searchTerms(topic)]), label: topic, mentionIds: idsOf(cluster) };
  const within = documentCounts(cluster);
  const everywhere = documentCounts(all);
  const weight = (word: string) =>
    (within.get(word)! / cluster.length) *
    Math.log(1 + all.length / everywhere.get(word)!) *
    within.get(word)!;
  const words = [...within.keys()]
    .filter((word) => within.get(word)! > 1)
    .sort((a, b) => weight(b) - weight(a) || (a < b ? -1 : 1))
    .slice(0, WORDS_IN_LABEL);
  const label = words.length > 0 ? words.join(', ') : beginningOf(cluster[0]?.text ?? '', 60);
  return { key: keyOf(words), label, mentionIds: idsOf(cluster) };
}

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.keys()].reduce<string | undefined>(
    (best, value) => (best === undefined || counts.get(value)! > counts.get(best)! ? value : best),
    undefined,
  );
}

function documentCounts(mentions: readonly MentionWithVector[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of mentions)
    for (const word of searchTerms(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function keyOf(words: readonly string[]): string {
  return words.join('-').replaceAll("'", '') || 'group';
}

function withUniqueKeys(groups: readonly MentionGroup[]): MentionGroup[] {
  const used = new Set([OTHER]);
  return groups.map((one) => {
    let { key } = one;
    for (let n = 2; used.has(key); n += 1) key = `${one.key}-${n}`;
    used.add(key);
    return { ...one, key };
  });
}

function idsOf(mentions: readonly MentionWithVector[]): string[] {
  return mentions.map(({ id }) => id);
}

/** Returns the cosine of two unit vectors. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k += 1) sum += a[k]! * b[k]!;
  return sum;
}
