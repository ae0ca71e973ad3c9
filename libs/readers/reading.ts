import type { Intent, Sentiment } from '#contracts';

/** An item as a source returns it. Texts can have any length and content; the reader reads only their beginning. */
export interface ReadItem {
  source: string;
  kind: string;
  title: string;
  text: string;
  /** True if `title` is the title of the thread, and not written by the author. */
  titleOfParent: boolean;
  /** BCP 47, as the source declares it. */
  lang?: string;
  community?: string;
  url: string;
  /** The terms that matched. */
  terms: readonly string[];
}

/** The subject of a keyword. */
export interface ReadSubject {
  /** Name and terms of the keyword. */
  names: readonly string[];
  /** For a `topic`, the sentiment is the mood of the text. For the other roles, it is the stance toward the subject. */
  role: 'own' | 'competitor' | 'topic';
  /**
   * The user's description of what the subject is and what it is not ("the airline, not the river"). Relevance depends
   * on it.
   */
  about?: string;
}

/** One item to read. */
export interface ReadRequest {
  item: ReadItem;
  subject: ReadSubject;
  /** If false, only language and relevance are read. */
  analysis: boolean;
  /** If true, the reading contains the sentence embedding. */
  embed: boolean;
}

/** The result of reading one item. */
export interface LocalReading {
  /** BCP 47 short code; undefined if the language was not detected. */
  lang: string | undefined;
  /** 0 (about something else) to 100 (about the subject), integer. */
  relevance: number;
  /** Why the item has this relevance, in plain words. */
  reason: string;
  sentiment?: Sentiment;
  /** -1 to 1, two decimals. */
  sentimentScore?: number;
  intent?: Intent;
  /** The phrase or the observation that the intent was read from. */
  intentReason?: string;
  /** 128 × bfloat16, as stored. */
  embedding?: Uint8Array;
}

/** Reads items in its own threads. */
export interface LocalReader {
  /**
   * Reads the items, in their order.
   * @throws Error if a thread fails or takes too long; other calls are not affected
   */
  read(requests: readonly ReadRequest[]): Promise<LocalReading[]>;
  close(): Promise<void>;
}
