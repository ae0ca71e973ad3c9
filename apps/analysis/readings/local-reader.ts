import type { Intent, Sentiment, SubjectRole } from '#contracts';

/** Injection token of the local reader. */
export const READER = Symbol('reader');

/** The models of the local reader. */
export const LOCAL_MODEL = { model: 'earshot-local', version: '1', embedding: '' };

/** The parts of an item that readers look at. */
export interface ReadItem {
  source: string;
  kind: string;
  title: string;
  text: string;
  titleOfParent: boolean;
  /** BCP 47, as the source declares it. */
  lang?: string;
  community?: string;
  url: string;
  /** The matched terms. */
  terms: readonly string[];
}

/** What the readings are about. */
export interface ReadSubject {
  /** The name of the keyword, and what it searches for. */
  names: readonly string[];
  role: SubjectRole;
  /** The keyword's `aiPrompt`, which describes what is relevant. */
  about?: string;
}

export interface ReadRequest {
  item: ReadItem;
  subject: ReadSubject;
  /** False: only language and relevance. */
  analysis: boolean;
  embed: boolean;
}

export interface LocalReading {
  /** BCP 47; undefined if it could not be told. */
  lang: string | undefined;
  /** 0 to 100, a whole number. */
  relevance: number;
  reason: string;
  sentiment?: Sentiment;
  /** -1 to 1 */
  sentimentScore?: number;
  intent?: Intent;
  intentReason?: string;
  embedding?: Uint8Array;
}

export interface LocalReader {
  read(requests: readonly ReadRequest[]): Promise<LocalReading[]>;
  close(): Promise<void>;
}

/** Until the models are there: language as declared, everything relevant, sentiment and intent unread. */
export function startLocalReader(_options: { workers: number }): LocalReader {
  return {
    read: async (requests) =>
      requests.map(({ item }) => ({ lang: item.lang, relevance: 100, reason: 'not read' })),
    close: async () => {},
  };
}
