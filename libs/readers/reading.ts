import type { Intent, Sentiment } from '#contracts';

/** An item as a source answers it. Texts may be of any length and content; the reader reads their beginning. */
export interface ReadItem {
  source: string;
  kind: string;
  title: string;
  text: string;
  /** True where `title` is the title of the thread: it is context, not the author's words. */
  titleOfParent: boolean;
  /** BCP 47, as the source declares it. */
  lang?: string;
  community?: string;
  url: string;
  /** The terms that matched. */
  terms: readonly string[];
}

/** What the reading is about. */
export interface ReadSubject {
  /** Name and terms of the keyword. */
  names: readonly string[];
  /** `topic` reads the mood of the text, the others the stance toward the subject. */
  role: 'own' | 'competitor' | 'topic';
  /** What the subject is and is not, in the words of the user ("the airline, not the river"). Steers relevance. */
  about?: string;
}

/** One item to read. */
export interface ReadRequest {
  item: ReadItem;
  subject: ReadSubject;
  /** False: language and relevance only. */
  analysis: boolean;
  /** True: the answer carries the sentence embedding. */
  embed: boolean;
}

/** The result of reading one item. */
export interface LocalReading {
  /** BCP 47 short code; undefined if the language was not recognised. */
  lang: string | undefined;
  /** 0 (about something else) to 100 (about the subject), integer. */
  relevance: number;
  /** Why the item has this relevance, in plain words. */
  reason: string;
  sentiment?: Sentiment;
  /** -1 to 1, two decimals. */
  sentimentScore?: number;
  intent?: Intent;
  /** The phrase or the observation that decided the intent. */
  intentReason?: string;
  /** 128 × bfloat16, as stored. */
  embedding?: Uint8Array;
}

/** Reads items in threads of its own. */
export interface LocalReader {
  /**
   * Reads the items, in their order.
   * @throws Error if a thread fails or takes too long; other calls are not affected
   */
  read(requests: readonly ReadRequest[]): Promise<LocalReading[]>;
  close(): Promise<void>;
}
