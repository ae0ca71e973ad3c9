import { LRUCache } from 'lru-cache';
import { readIntent } from './intent/read-intent.js';
import { languageOf } from './language.js';
import type { LocalReading, ReadRequest, ReadSubject } from './reading.js';
import { readRelevance } from './relevance/relevance.js';
import { relevanceSubject, type RelevanceSubject } from './relevance/subject.js';
import { englishMood, foreignMood } from './sentiment/mood.js';
import { contrastScores, moodReading, stanceReading, type SentimentReading } from './sentiment/stance.js';
import { authorsWords, lowered, MOST_TITLE_CHARACTERS, normalised, withoutNames } from './text/clean.js';
import { markedText, placesOf, type Place } from './text/names.js';
import type { Weights } from './weights.js';

const MOST_SUBJECTS = 500;

/** A text prepared for all readings. */
interface Prepared {
  plain: string;
  lower: string;
  places: readonly Place[];
  /** Lower case, § for the subject, links and names replaced. */
  marked: string;
  /** As the mood models know it. */
  moodText: string;
  lang: string | undefined;
}

/** Reads one item at a time, on this thread. */
export class Reader {
  private readonly subjects = new LRUCache<string, RelevanceSubject>({ max: MOST_SUBJECTS });
  private readonly ordinaryWords: ReadonlySet<string>;

  constructor(private readonly weights: Weights) {
    this.ordinaryWords = weights.ordinaryWords;
  }

  /** The text whose sentence embedding `read` takes: links and names are replaced. */
  textToEmbed({ item }: ReadRequest): string {
    return withoutNames(authorsWords(item));
  }

  /**
   * Reads an item. Never throws, whatever the text is.
   * @param embedding 512 numbers of the sentence encoder; without it, sentiment is read by the linear model alone
   */
  read({ item, subject, analysis }: ReadRequest, embedding?: Float32Array): LocalReading {
    const compiled = this.compiled(subject);
    const prepared = prepare(item, compiled);
    const about = {
      ...prepared,
      parentTitle: item.titleOfParent ? lowered(normalised(item.title, MOST_TITLE_CHARACTERS)) : '',
      url: item.url.slice(0, 500).toLowerCase(),
      community: (item.community ?? '').slice(0, 100).toLowerCase(),
    };
    const { lang } = prepared;
    const relevance = readRelevance(about, compiled, this.weights.relevance);
    if (!analysis) return { lang, ...relevance };
    const sentiment = this.sentiment(prepared, subject, embedding);
    const title = item.titleOfParent ? '' : prepared.marked.slice(0, item.title.length);
    const text = {
      source: item.source,
      title,
      text: prepared.marked,
      sentimentScore: sentiment.sentimentScore,
    };
    return { lang, ...relevance, ...sentiment, ...readIntent(text) };
  }

  private sentiment(
    { moodText, marked, lang }: Prepared,
    { role }: ReadSubject,
    embedding?: Float32Array,
  ): SentimentReading {
    const english = lang === undefined || lang === 'en';
    const read = (text: string) =>
      english ? englishMood(this.weights, text) : foreignMood(this.weights, text);
    const whole = english ? englishMood(this.weights, moodText, embedding) : read(moodText);
    if (role === 'topic') return moodReading(whole, contrastScores(moodText, read));
    return stanceReading({ text: moodText, marked }, whole, read);
  }

  private compiled(subject: ReadSubject): RelevanceSubject {
    const key = JSON.stringify([subject.names, subject.about]);
    let compiled = this.subjects.get(key);
    if (!compiled) this.subjects.set(key, (compiled = relevanceSubject(subject, this.ordinaryWords)));
    return compiled;
  }
}

function prepare(item: ReadRequest['item'], { names }: RelevanceSubject): Prepared {
  const plain = authorsWords(item);
  const lower = lowered(plain);
  const places = placesOf(lower, names);
  return {
    plain,
    lower,
    places,
    marked: withoutNames(markedText(lower, places)),
    moodText: withoutNames(plain),
    lang: languageOf(plain, item.lang),
  };
}
