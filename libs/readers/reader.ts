import { LRUCache } from 'lru-cache';
import { gistInput, gistOf } from './intent/gist.js';
import { readIntent, type IntentReading } from './intent/read-intent.js';
import { SOFTWARE_SOURCES } from './intent/software.js';
import { languageOf } from './language.js';
import type { LocalReading, ReadItem, ReadRequest, ReadSubject } from './reading.js';
import { readRelevance } from './relevance/relevance.js';
import type { RelevanceText } from './relevance/signals.js';
import { relevanceSubject, type RelevanceSubject } from './relevance/subject.js';
import { logSoftmax, type Mood } from './sentiment/linear.js';
import { englishMood, foreignMood } from './sentiment/mood.js';
import { contrastScores, moodReading, stanceReading, type SentimentReading } from './sentiment/stance.js';
import { authorsWords, lowered, MAX_TITLE_CHARACTERS, normalised, withoutNames } from './text/clean.js';
import { markedText, placesOf, SUBJECT } from './text/names.js';
import type { Weights } from './weights.js';

const MAX_SUBJECTS = 200;
/**
 * Added to the log-probability of `neutral` for issues and questions about software, because they describe errors
 * without an opinion.
 */
const MATTER_OF_FACT = 2;

/** An item whose text is prepared for all readings. */
export interface PreparedItem extends RelevanceText {
  request: ReadRequest;
  subject: RelevanceSubject;
  /** The author's words in lower case, with § for the subject. Links and @names are replaced. */
  marked: string;
  /** The author's title in the same form; empty if there is none. */
  markedTitle: string;
  /** The author's words in the form that the models were trained on: links and @names are replaced. */
  modelText: string;
  lang: string | undefined;
  /** True if the models for English read the item. */
  english: boolean;
}

/** Reads one item at a time, on the calling thread. The methods do not throw, whatever text the item has. */
export class Reader {
  private readonly subjects = new LRUCache<string, RelevanceSubject>({ max: MAX_SUBJECTS });

  constructor(private readonly weights: Weights) {}

  prepare(request: ReadRequest): PreparedItem {
    return prepareItem(request, this.compiled(request.subject));
  }

  /**
   * Reads a prepared item.
   * @param embedding the embedding of `modelText`. Without it, only the linear model reads the sentiment, and the
   *   classifier of the whole text does not read the intent
   */
  read(item: PreparedItem, embedding?: Float32Array): LocalReading {
    const { request, lang, subject } = item;
    const relevance = readRelevance(item, subject, this.weights.relevance);
    if (!request.analysis) return { lang, ...relevance };
    const mood = this.mood(item, embedding);
    const sentiment = this.sentiment(item, mood);
    return { lang, ...relevance, ...sentiment, ...this.intent(item, mood, sentiment, embedding) };
  }

  private mood({ modelText, english, software, markedTitle }: PreparedItem, embedding?: Float32Array): Mood {
    const mood = english
      ? englishMood(this.weights, modelText, embedding)
      : foreignMood(this.weights, modelText);
    return software && markedTitle !== '' ? logSoftmax([mood[0], mood[1] + MATTER_OF_FACT, mood[2]]) : mood;
  }

  private sentiment({ modelText, marked, english, request }: PreparedItem, mood: Mood): SentimentReading {
    const read = (text: string) =>
      english ? englishMood(this.weights, text) : foreignMood(this.weights, text);
    if (request.subject.role === 'topic') return moodReading(mood, contrastScores(modelText, read));
    return stanceReading({ text: modelText, marked }, mood, read);
  }

  private intent(
    item: PreparedItem,
    mood: Mood,
    { sentimentScore }: SentimentReading,
    embedding?: Float32Array,
  ): IntentReading {
    const { request, marked, markedTitle, english } = item;
    const gist = () =>
      english && embedding ? gistOf(this.weights.gist, gistInput(marked, embedding, mood)) : undefined;
    const text = { source: request.item.source, title: markedTitle, text: marked, sentimentScore, gist };
    const { intent, intentReason } = readIntent(text);
    return { intent, intentReason: intentReason.replaceAll(SUBJECT, nameIn(item)) };
  }

  private compiled(subject: ReadSubject): RelevanceSubject {
    const key = JSON.stringify([subject.names, subject.about]);
    let compiled = this.subjects.get(key);
    if (!compiled) this.subjects.set(key, (compiled = relevanceSubject(subject, this.weights.ordinaryWords)));
    return compiled;
  }
}

/** Prepares an item for all readings. */
export function prepareItem(request: ReadRequest, subject: RelevanceSubject): PreparedItem {
  const { item } = request;
  const plain = authorsWords(item);
  const lower = lowered(plain);
  const places = placesOf(lower, subject.names);
  const lang = languageOf(plain, item.lang);
  return {
    request,
    subject,
    plain,
    lower,
    places,
    ...context(item),
    marked: withoutNames(markedText(lower, places)),
    markedTitle: item.titleOfParent ? '' : markedTitle(item.title, subject.names),
    modelText: withoutNames(plain),
    lang,
    english: lang === undefined || lang === 'en',
  };
}

function markedTitle(title: string, names: readonly string[]): string {
  const lower = lowered(normalised(title, MAX_TITLE_CHARACTERS));
  return withoutNames(markedText(lower, placesOf(lower, names)));
}

/** Returns the name of the subject as written in the text; empty if the text does not contain it. */
function nameIn({ plain, places }: PreparedItem): string {
  const [first] = places;
  return first ? plain.slice(first.start, first.end) : '';
}

function context(item: ReadItem): Pick<RelevanceText, 'parentTitle' | 'url' | 'community' | 'software'> {
  return {
    parentTitle: item.titleOfParent ? lowered(normalised(item.title, MAX_TITLE_CHARACTERS)) : '',
    url: item.url.slice(0, 500).toLowerCase(),
    community: (item.community ?? '').slice(0, 100).toLowerCase(),
    software: SOFTWARE_SOURCES.has(item.source),
  };
}
