/** Computes vectors that represent the meaning of texts. */
export interface Embedder {
  /** Identifies the model and its version. Vectors of different models cannot be compared. */
  readonly model: string;
  /**
   * Computes the vectors of the texts, in order: unit vectors as bfloat16, little-endian. All vectors of one model have
   * the same length. A text that the server refuses, or that has no visible character, gets an empty vector.
   * @param urgent true if a person waits. The local model computes these texts before others
   * @throws EmbeddingsUnavailable if the server that computes the vectors does not answer correctly
   */
  embed(texts: readonly string[], urgent?: boolean): Promise<Uint8Array[]>;
  close(): Promise<void>;
}

/**
 * The server of the embeddings cannot be reached, refuses requests, or does not answer correctly. A later attempt can
 * succeed.
 */
export class EmbeddingsUnavailable extends Error {
  override readonly name = 'EmbeddingsUnavailable';
}

/** The title and the text of a mention. */
export interface MentionText {
  title: string;
  text: string;
  /** True if the title is the title of the parent post, and not part of the mention itself. */
  titleOfParent: boolean;
}

/** Returns the text of a mention that is embedded and searched, without the title of a parent post. */
export function ownText({ title, text, titleOfParent }: MentionText): string {
  if (title === '' || titleOfParent) return text;
  // Many sources repeat the beginning of the text as title.
  return text.startsWith(title) ? text : `${title}\n${text}`;
}
