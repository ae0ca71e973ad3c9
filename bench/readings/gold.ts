import { table, target } from '../harness.js';
import { labelled, ownPosts, type Row } from './data.js';
import { requestFor, type BenchReader } from './read.js';
import { Confusion, kappa } from './score.js';
import type { LocalReading } from '#readers';

const ALARMING = ['buy_intent', 'churn_risk', 'recommendation_request'];
/** The bench counts a post with a lower relevance as irrelevant. */
const IRRELEVANT_BELOW = 50;

/** Measures stance on tweets about 100 topics. The labels of stance were not used for training. */
export async function measureStance(reader: BenchReader): Promise<void> {
  const rows = labelled('stance/topics.train.tsv');
  if (!rows) return;
  const confusion = new Confusion();
  for (const { subject = '', points, text = '' } of rows) {
    const truth = Number(points) > 0 ? 'positive' : Number(points) < 0 ? 'negative' : 'neutral';
    const reading = await reader.read(requestFor(text, { names: [subject], role: 'own' }));
    confusion.add(truth, reading.sentiment ?? '');
  }
  console.log(
    `\nStance toward 100 topics (${rows.length} tweets; their labels of stance were not used for training)`,
  );
  console.log(
    `macro recall ${confusion.macroRecall().toFixed(3)}, accuracy ${confusion.accuracy().toFixed(3)}`,
  );
  table(confusion.table().head, confusion.table().rows);
}

/** Measures stance, intent and relevance on the gold set: posts that two language models have labelled. */
export async function measureGold(reader: BenchReader): Promise<void> {
  const rows = labelled('gold/gold.tsv');
  if (!rows) return;
  const readings: { row: Row; reading: LocalReading }[] = [];
  for (const row of rows) {
    const { subject = '', text = '', source = '' } = row;
    const about =
      subject === '' ? { names: [], role: 'topic' as const } : { names: [subject], role: 'own' as const };
    const reading = await reader.read(requestFor(text, about, source === 'tweet' ? 'x' : source));
    readings.push({ row, reading });
  }
  agreement(readings, 'stance', ({ sentiment }) => sentiment ?? '');
  agreement(readings, 'intent', ({ intent }) => intent ?? '');
  intents(readings);
  goldRelevance(readings);
}

type Read = readonly { row: Row; reading: LocalReading }[];

/**
 * Prints how often the local reader agrees with each of the two language models that labelled the gold set, and how
 * often these two agree.
 */
function agreement(readings: Read, field: string, of: (reading: LocalReading) => string): void {
  const pairs = (a: (each: Read[number]) => string, b: (each: Read[number]) => string) =>
    readings.map((each) => [a(each), b(each)] as const);
  const [first, second] = ['a', 'b'].map(
    (side) => (each: Read[number]) => each.row[`${field}_${side}`] ?? '',
  );
  if (!first || !second) return;
  const ours = (each: Read[number]) => of(each.reading);
  const line = (what: string, both: readonly (readonly [string, string])[]) => {
    const same = both.filter(([a, b]) => a === b).length / both.length;
    return [what, `${(same * 100).toFixed(1)} %`, kappa(both).toFixed(2)];
  };
  console.log(`\nGold, ${field}: agreement over ${readings.length} posts`);
  table(
    ['between', 'same', 'kappa'],
    [
      line('ours and A', pairs(ours, first)),
      line('ours and B', pairs(ours, second)),
      line('A and B', pairs(first, second)),
    ],
  );
  const confusion = new Confusion();
  for (const each of readings) if (first(each) === second(each)) confusion.add(first(each), ours(each));
  console.log(
    `where A and B agree: macro recall ${confusion.macroRecall().toFixed(3)}, macro-F1 ${confusion.macroF1().toFixed(3)}`,
  );
  table(confusion.table().head, confusion.table().rows);
}

function intents(readings: Read): void {
  const confusion = new Confusion();
  for (const { row, reading } of readings)
    if (row.intent_a === row.intent_b) confusion.add(row.intent_a ?? '', reading.intent ?? '');
  table(
    ['intent', 'n', 'precision', 'recall', 'F1'],
    confusion
      .present()
      .map((value) => [
        value,
        confusion.truths(value),
        confusion.precision(value).toFixed(2),
        confusion.recall(value).toFixed(2),
        confusion.f1(value).toFixed(2),
      ]),
  );
  target('macro-F1 of intent over the values present', confusion.macroF1(), 0.55, 'at least');
  const [hits, reads] = [
    ALARMING.map((value) => confusion.count(value, value)),
    ALARMING.map((value) => confusion.reads(value)),
  ].map((counts) => counts.reduce((sum, count) => sum + count, 0));
  console.log(`${ALARMING.join(', ')} together: ${hits} of ${reads} right`);
  target('their precision', (hits ?? 0) / (reads || 1), 0.75, 'at least');
}

function goldRelevance(readings: Read): void {
  const confusion = new Confusion();
  for (const { row, reading } of readings)
    if (row.relevant_a === row.relevant_b && row.relevant_a !== '-')
      confusion.add(row.relevant_a === 'n' ? 'irrelevant' : 'relevant', readAs(reading));
  console.log('\nRelevance on gold, where A and B agree');
  irrelevance(confusion);
}

/** Measures relevance on the posts of the project, for each set of posts. */
export async function measureOwnRelevance(reader: BenchReader): Promise<void> {
  const sets: Record<string, string> = {
    tune: 'weights fitted on these',
    held: 'same names, other posts',
    unseen: 'names for which the reader has no list of words (except Ford)',
  };
  for (const [set, what] of Object.entries(sets)) {
    const confusion = new Confusion();
    for (const { name = '', relevant, about = '', text = '', ...row } of ownPosts()) {
      if (row.set !== set) continue;
      const subject = { names: [name], role: 'own' as const, ...(about !== '' && { about }) };
      confusion.add(
        relevant === 'n' ? 'irrelevant' : 'relevant',
        readAs(await reader.read(requestFor(text, subject))),
      );
    }
    console.log(`\nRelevance on our own posts, ${set}: ${what}`);
    irrelevance(confusion);
  }
}

function readAs({ relevance }: LocalReading): string {
  return relevance < IRRELEVANT_BELOW ? 'irrelevant' : 'relevant';
}

function irrelevance(confusion: Confusion): void {
  const figures = [confusion.precision('irrelevant'), confusion.recall('irrelevant')].map((value) =>
    value.toFixed(2),
  );
  console.log(`irrelevant: precision ${figures[0]}, recall ${figures[1]}`);
  table(confusion.table().head, confusion.table().rows);
}
