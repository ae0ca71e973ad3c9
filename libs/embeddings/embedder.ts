/** Computes vectors that represent the meaning of texts. */
export interface Embedder {
  /** Identifies the model and its version. Vectors of different models cannot be compared. */
  readonly model: string;
  /**
   * The vectors of the texts, in order: unit vectors as bfloat16, little-endian. All vectors of one model have the same
   * length. A text that the service refuses, or that has no visible character, gets an empty vector.
   * @param urgent true if a person waits: these texts go before others
   * @throws EmbeddingsUnavailable when the service that computes them does not answer
   */
  embed(texts: readonly string[], urgent?: boolean): Promise<Uint8Array[]>;
  close(): Promise<void>;
}

/** The embeddings service cannot be reached, or refuses requests at the moment. Trying again later can help. */
export class EmbeddingsUnavailable extends Error {
  override readonly name = 'EmbeddingsUnavailable';
}

/** The parts of a mention that say what it means. */
export interface MentionText {
  title: string;
  text: string;
  /** True if the title is that of the parent post: it does not belong to the mention's own words. */
  titleOfParent: boolean;
}

/** The text of a mention that is embedded and searched: its own words. */
export function ownText({ title, text, titleOfParent }: MentionText): string {
  if (title === '' || titleOfParent) return text;
  // Many sources repeat the beginning of the text as title.
  return text.startsWith(title) ? text : `${title}\n${text}`;
}
