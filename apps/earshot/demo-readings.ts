import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import type { DemoAccount } from './demo-account.js';

/** The keys of a mention that the demo uses. */
interface ReadMention {
  source: string;
  /** Null if the mention has no title. */
  title: string | null;
  /** Empty if the mention has only a title. */
  text: string;
  lang: string | null;
  analysis?: {
    sentiment: string | null;
    intent: string | null;
    relevance: number | null;
    reason: string | null;
  };
  score?: number;
}

const SHOWN = 6;
const POLL_INTERVAL_MS = 1_000;
/** The first mentions arrive within seconds; a slow machine can take longer. */
const GIVEN_UP_AFTER_MS = 120_000;
const TEXT_LENGTH = 64;

/** Questions about the topics of the simulated posts, mostly in other words than the posts use. */
const QUESTIONS = [
  'the service has frequent outages',
  'somebody leaves because it costs too much',
  'quick and helpful answers to my problems',
];

/**
 * Prints how Earshot read some mentions. Also prints a question and a mention: a search for the question finds the
 * mention, although the two share no word of four or more letters. Prints nothing if the demo stops first, or if there
 * are no such mentions after two minutes.
 * @param address of the gateway
 */
export async function showReadings(
  address: string,
  { apiKey }: Pick<DemoAccount, 'apiKey'>,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const mentions = (query: string) => readMentions(`${address}/v1/mentions?${query}`, apiKey, signal);
  for (
    const until = Date.now() + GIVEN_UP_AFTER_MS;
    Date.now() < until;
    await wait(POLL_INTERVAL_MS, undefined, { signal })
  ) {
    const read = (await mentions('limit=50&lang=en')).filter(({ analysis }) => analysis?.sentiment);
    const found = read.length >= SHOWN ? await answeredQuestion(mentions) : undefined;
    if (found) return say(readingsText(mostDifferentFirst(read).slice(0, SHOWN), found));
  }
}

async function readMentions(url: string, apiKey: string, signal: AbortSignal): Promise<ReadMention[]> {
  const { statusCode, body } = await request(url, { headers: { 'x-api-key': apiKey }, signal });
  const page = (await body.json()) as { data?: ReadMention[] };
  return statusCode === 200 ? (page.data ?? []) : [];
}

/**
 * Searches the five best mentions for each question.
 * @returns the first question that finds a mention with which it shares no word, and the best such mention; undefined
 *   if there is none
 */
async function answeredQuestion(
  mentions: (query: string) => Promise<ReadMention[]>,
): Promise<{ question: string; mention: ReadMention } | undefined> {
  for (const question of QUESTIONS) {
    const found = await mentions(`mode=semantic&limit=5&q=${encodeURIComponent(question)}`);
    const mention = found.find((one) => !sharesWord(question, wordsOf(one)));
    if (mention) return { question, mention };
  }
  return undefined;
}

/** Returns true if the texts share a word of at least four letters. Shorter words do not show the topic. */
function sharesWord(question: string, text: string): boolean {
  const words = new Set(text.toLowerCase().match(/\p{L}{4,}/gu));
  return (question.toLowerCase().match(/\p{L}{4,}/gu) ?? []).some((word) => words.has(word));
}

/** Orders the mentions: the first ones have different combinations of sentiment and intent. */
function mostDifferentFirst(mentions: readonly ReadMention[]): ReadMention[] {
  const kinds = new Set<string>();
  const isNew = ({ analysis }: ReadMention) => {
    const kind = `${analysis?.sentiment} ${analysis?.intent}`;
    return !kinds.has(kind) && kinds.add(kind) !== undefined;
  };
  const first = mentions.filter(isNew);
  return [...first, ...mentions.filter((mention) => !first.includes(mention))];
}

function readingsText(
  read: readonly ReadMention[],
  { question, mention }: { question: string; mention: ReadMention },
): string {
  const lines = read.map((one) => {
    const { sentiment, intent, relevance } = one.analysis ?? {};
    return `  ${(sentiment ?? '').padEnd(9)} ${(intent ?? '').padEnd(22)} ${String(relevance ?? '').padStart(3)}  ${shortened(wordsOf(one))}`;
  });
  return `
How Earshot read some of the mentions, on this machine, without any key:

  ${'sentiment'.padEnd(9)} ${'intent'.padEnd(22)} relevance (0 to 100), text
${lines.join('\n')}

A search by meaning (mode=semantic): "${question}"

  finds: ${shortened(wordsOf(mention))}
`;
}

function wordsOf({ title, text }: ReadMention): string {
  return title && text ? `${title} — ${text}` : (title ?? text);
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > TEXT_LENGTH ? `${line.slice(0, TEXT_LENGTH - 1)}…` : line;
}
