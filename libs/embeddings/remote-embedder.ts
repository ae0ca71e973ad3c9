import { OutboundError, type OutboundHttp } from '#http-out';
import { toBfloat16 } from './bfloat16.js';
import { toUnitLength } from './compress.js';
import { EmbeddingsUnavailable, type Embedder } from './embedder.js';

/** The options of an embeddings server that is compatible with OpenAI's API. */
export interface RemoteOptions {
  /** Base address; `/embeddings` is appended. */
  url: string;
  model: string;
  /** Empty if the server needs no token. */
  token: string;
  http: OutboundHttp;
}

const TEXTS_IN_REQUEST = 64;
/**
 * The server gets this many characters of a text, about 2,000 tokens. Servers refuse texts that are too long for their
 * model.
 */
const MAX_CHARACTERS = 8_000;
const DEADLINE_MS = 20_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DIMENSIONS = 4096;
/** Statuses of a wrong request. For all other statuses, the cause is the server, the token or the address. */
const REFUSED = new Set([400, 413, 422]);

/** Embeds texts with a server. The texts leave this machine. */
export class RemoteEmbedder implements Embedder {
  readonly model: string;
  private readonly address: string;
  private readonly host: string;

  constructor(private readonly options: RemoteOptions) {
    this.model = options.model;
    this.address = `${options.url.replace(/\/+$/, '')}/embeddings`;
    this.host = new URL(options.url).host;
  }

  async embed(texts: readonly string[]): Promise<Uint8Array[]> {
    const found: Uint8Array[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_IN_REQUEST)
      found.push(...(await this.request(texts.slice(from, from + TEXTS_IN_REQUEST).map(cut))));
    return found;
  }

  async close(): Promise<void> {
    await this.options.http.close();
  }

  /** Sends a batch. If the server refuses it, sends each text separately, so that only refused texts have no vector. */
  private async request(texts: readonly string[]): Promise<Uint8Array[]> {
    const sent = texts.filter((text) => text !== '');
    if (sent.length === 0) return texts.map(() => new Uint8Array(0));
    const { status, bytes } = await this.post(sent);
    if (REFUSED.has(status)) {
      if (texts.length === 1) return [new Uint8Array(0)];
      return (await Promise.all(texts.map((text) => this.request([text])))).flat();
    }
    if (status !== 200) throw this.unavailable(`answered ${status}`);
    const vectors = this.vectorsOf(bytes, sent.length);
    return texts.map((text) => (text === '' ? new Uint8Array(0) : vectors.shift()!));
  }

  private async post(input: readonly string[]): Promise<{ status: number; bytes: Uint8Array }> {
    const { token, model, http } = this.options;
    try {
      return await http.request({
        method: 'POST',
        url: this.address,
        headers: {
          'content-type': 'application/json',
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ model, input, encoding_format: 'float' }),
        deadlineMs: DEADLINE_MS,
        maxBytes: MAX_BYTES,
        redirects: 'none',
        // The operator has set this address.
        trusted: true,
      });
    } catch (error) {
      if (error instanceof OutboundError) throw new EmbeddingsUnavailable(error.message);
      throw error;
    }
  }

  /**
   * Reads the vectors of an answer.
   * @throws EmbeddingsUnavailable if the answer does not contain one vector for each text, all of the same length
   */
  private vectorsOf(bytes: Uint8Array, count: number): Uint8Array[] {
    const data = dataOf(bytes);
    const vectors = new Map(data.map(({ index, embedding }) => [index, embedding]));
    const length = vectors.get(0)?.length ?? 0;
    const all = Array.from({ length: count }, (_, n) => vectors.get(n));
    const isComplete = all.every((one) => one?.length === length && one.every(Number.isFinite));
    if (!isComplete || length < 1 || length > MAX_DIMENSIONS)
      throw this.unavailable(`did not answer with ${count} vectors of at most ${MAX_DIMENSIONS} numbers`);
    return all.map((one) => toBfloat16(toUnitLength(Float32Array.from(one!))));
  }

  private unavailable(what: string): EmbeddingsUnavailable {
    return new EmbeddingsUnavailable(`${this.host} ${what}`);
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARACTERS).toWellFormed().trim();
}

function dataOf(bytes: Uint8Array): { index: number; embedding: number[] }[] {
  try {
    const { data } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { data?: unknown };
    if (!Array.isArray(data)) return [];
    return data.filter(
      (one: unknown): one is { index: number; embedding: number[] } =>
        typeof one === 'object' && one !== null && Array.isArray((one as { embedding?: unknown }).embedding),
    );
  } catch {
    return [];
  }
}
