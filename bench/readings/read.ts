import { SentenceEncoder } from '#embeddings';
import type { LocalReading, ReadRequest, ReadSubject } from '#readers';
import { loadWeights, Reader } from '#readers/models';

/** Reads posts in the same way as the product's threads, but on this thread. */
export class BenchReader {
  private constructor(
    readonly reader: Reader,
    private readonly encoder: SentenceEncoder,
  ) {}

  static async load(): Promise<BenchReader> {
    return new BenchReader(new Reader(loadWeights()), await SentenceEncoder.load());
  }

  async read(request: ReadRequest): Promise<LocalReading> {
    const item = this.reader.prepare(request);
    return this.reader.read(item, item.english ? await this.embed(item.modelText) : undefined);
  }

  async embed(text: string): Promise<Float32Array | undefined> {
    const [embedding] = await this.encoder.encode([text]);
    return embedding;
  }
}

/** The subject of a request for the mood of a text: it has no names. */
export const MOOD: ReadSubject = { names: [], role: 'topic' };

/** Returns a request for a post of this text. For sources whose posts have titles, a dash separates title and text. */
export function requestFor(text: string, subject: ReadSubject, source = 'x'): ReadRequest {
  const [title = '', ...rest] = SOURCES_WITH_TITLES.has(source) ? text.split(' — ') : ['', text];
  const item = {
    source,
    kind: 'post',
    title,
    text: rest.join(' — '),
    titleOfParent: false,
    url: '',
    terms: [],
  };
  return { item, subject, analysis: true, embed: false };
}

const SOURCES_WITH_TITLES = new Set(['github', 'stackoverflow', 'reddit', 'hackernews']);
