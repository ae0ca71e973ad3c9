import { compress } from './compress.js';
import { SentenceEncoder } from './sentence-encoder.js';

let encoder: Promise<SentenceEncoder> | undefined;

/**
 * Runs in a worker thread. Computes the embeddings of texts, in the form in which they are stored. A text whose
 * embedding has only zeros, such as an empty text, gets an empty embedding.
 */
export default async function embed(texts: readonly string[]): Promise<Uint8Array[]> {
  encoder ??= SentenceEncoder.load();
  const embeddings = await (await encoder).encode(texts);
  return embeddings.map((embedding) => (embedding.some(Boolean) ? compress(embedding) : new Uint8Array(0)));
}
