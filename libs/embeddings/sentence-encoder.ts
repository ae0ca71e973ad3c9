import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { InferenceSession } from 'onnxruntime-node';
import { modelFile } from './model-files.js';
import { Tokenizer, type Vocabulary } from './tokenizer.js';

/** Numbers in an embedding of the encoder, before `compress`. */
export const SENTENCE_DIMENSIONS = 512;
/** The encoder reads the beginning of a text up to this many tokens, about 90 English words. */
const MAX_TOKENS = 128;

/**
 * Computes the embedding of a sentence or post with the Universal Sentence Encoder lite, for English. It blocks the
 * calling thread for one to three milliseconds per text, so services call it in a worker thread. On one machine, the
 * same text always gets the same numbers.
 */
export class SentenceEncoder {
  private constructor(
    private readonly runtime: typeof import('onnxruntime-node'),
    private readonly session: InferenceSession,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** Reads the model, which takes about 30 MB of memory. */
  static async load(): Promise<SentenceEncoder> {
    const vocabulary = JSON.parse(await readFile(modelFile('vocabulary.json'), 'utf8')) as Vocabulary;
    // The runtime takes 45 MB. It is imported here, so that only processes that use the encoder load it.
    const runtime = await import('onnxruntime-node');
    const session = await runtime.InferenceSession.create(fileURLToPath(modelFile('use-lite.onnx')), {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      enableCpuMemArena: true,
      logSeverityLevel: 3,
    });
    return new SentenceEncoder(runtime, session, new Tokenizer(vocabulary));
  }

  /**
   * Computes the embeddings of the texts, in order: unit vectors of 512 numbers. Only the beginning of a long text is
   * read. A text without any visible character gets zeros, which have the same distance to all embeddings.
   */
  async encode(texts: readonly string[]): Promise<Float32Array[]> {
    const found: Float32Array[] = [];
    for (const text of texts) found.push(await this.encodeOne(text));
    return found;
  }

  private async encodeOne(text: string): Promise<Float32Array> {
    const ids = this.tokenizer.encode(text).slice(0, MAX_TOKENS);
    if (ids.length === 0) return new Float32Array(SENTENCE_DIMENSIONS);
    const input = new this.runtime.Tensor('int64', BigInt64Array.from(ids, BigInt), [ids.length]);
    const { embedding } = await this.session.run({ ids: input });
    return Float32Array.from(embedding?.data as Float32Array);
  }
}
