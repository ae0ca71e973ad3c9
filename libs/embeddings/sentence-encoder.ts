import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { InferenceSession } from 'onnxruntime-node';
import { modelFile } from './model-files.js';
import { Tokenizer, type Vocabulary } from './tokenizer.js';

/** Numbers in an embedding of the encoder, before `compress`. */
export const SENTENCE_DIMENSIONS = 512;
/** The encoder reads the beginning of a text up to this many tokens, about 90 English words. */
const MOST_TOKENS = 128;

/**
 * Computes what a sentence or post means: Universal Sentence Encoder lite, for English. Runs in the calling thread's
 * process on one core, at one to three milliseconds a text, so services call it in a worker thread. The same text always gets
 * the same numbers on one machine.
 */
export class SentenceEncoder {
  private constructor(
    private readonly runtime: typeof import('onnxruntime-node'),
    private readonly session: InferenceSession,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** Reads the model, about 30 MB of memory. */
  static async load(): Promise<SentenceEncoder> {
    const vocabulary = JSON.parse(await readFile(modelFile('vocabulary.json'), 'utf8')) as Vocabulary;
    // Not at the top: importing this library alone must not load the runtime's 45 MB.
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
   * The embeddings of the texts, in order: unit vectors of 512 numbers. Only the beginning of a long text counts. A
   * text without any visible character gets zeros, which are equally far from everything.
   */
  async encode(texts: readonly string[]): Promise<Float32Array[]> {
    const found: Float32Array[] = [];
    for (const text of texts) found.push(await this.encodeOne(text));
    return found;
  }

  private async encodeOne(text: string): Promise<Float32Array> {
    const ids = this.tokenizer.encode(text).slice(0, MOST_TOKENS);
    if (ids.length === 0) return new Float32Array(SENTENCE_DIMENSIONS);
    const input = new this.runtime.Tensor('int64', BigInt64Array.from(ids, BigInt), [ids.length]);
    const { embedding } = await this.session.run({ ids: input });
    return Float32Array.from(embedding?.data as Float32Array);
  }
}
