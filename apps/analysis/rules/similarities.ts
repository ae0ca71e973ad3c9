import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { fromBfloat16, ownText } from '#embeddings';
import type { LocalReader } from '#readers';
import type { ItemRules, Similarity, TextField } from '#rules';
import { LOCAL_MODEL, READER } from '../readings/local-reader.js';

/** Maximum memory for the texts of rules and their vectors, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
const VECTOR_BYTES = 1024;

const NO_VECTOR = new Uint8Array();

/** An item whose meaning is compared by rules. */
export interface ComparedItem {
  title: string;
  body: string;
  /** True if `title` is the title of the parent post. */
  titleOfParent: boolean;
  /** The vector of the whole text, as a reader computed it. Empty if there is no vector. */
  embedding: Uint8Array;
  /** The model of the vector. */
  embeddingModel: string;
}

/** Compares the meaning of items with the meaning of the texts of `similar_to`, by the vectors of the local reader. */
@Injectable()
export class Similarities {
  private readonly ofRules = new LRUCache<string, Float32Array>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, text) => VECTOR_BYTES + 2 * text.length,
  });

  constructor(@Inject(READER) private readonly reader: LocalReader) {}

  /** Returns one similarity function for each item. All vectors that the rules can need are computed first. */
  async of(rules: ItemRules, items: readonly ComparedItem[]): Promise<Similarity[]> {
    if (rules.similarTo.length === 0) return items.map(() => () => undefined);
    const fields = [...new Set(rules.similarTo.map(({ field }) => field))];
    const known = await this.vectorsOf(
      rules.similarTo.map(({ text }) => text),
      items.flatMap((item) => fields.flatMap((field) => textOf(item, field) ?? [])),
    );
    return items.map((item) => {
      const own = new Map(fields.map((field) => [field, vectorOf(item, field, known)]));
      return (field, text) => cosine(own.get(field), known.get(text));
    });
  }

  /**
   * Returns the vectors of texts. Keeps the vectors of rules' texts in memory, so that most of these texts are embedded
   * only once.
   */
  private async vectorsOf(
    ofRules: readonly string[],
    ofItems: readonly string[],
  ): Promise<Map<string, Float32Array>> {
    const found = new Map<string, Float32Array>();
    for (const text of ofRules) {
      const vector = this.ofRules.get(text);
      if (vector) found.set(text, vector);
    }
    const missing = [...new Set([...ofRules, ...ofItems])].filter((text) => !found.has(text));
    const read = missing.length > 0 ? await this.reader.read(missing.map(requestOf)) : [];
    missing.forEach((text, index) => found.set(text, fromBfloat16(read[index]?.embedding ?? NO_VECTOR)));
    for (const text of ofRules) this.ofRules.set(text, found.get(text)!);
    return found;
  }
}

/** Returns a text to embed for the field; undefined if there is none, or its vector is known. */
function textOf(item: ComparedItem, field: TextField): string | undefined {
  const { title, body, titleOfParent, embedding, embeddingModel } = item;
  switch (field) {
    case 'title':
      return title || undefined;
    case 'body':
      return body || undefined;
    case 'text':
      return isLocal(embedding, embeddingModel)
        ? undefined
        : ownText({ title, text: body, titleOfParent }) || undefined;
  }
}

function vectorOf(
  item: ComparedItem,
  field: TextField,
  known: ReadonlyMap<string, Float32Array>,
): Float32Array | undefined {
  const text = textOf(item, field);
  if (text !== undefined) return known.get(text);
  return field === 'text' ? fromBfloat16(item.embedding) : undefined;
}

function isLocal(embedding: Uint8Array, model: string): boolean {
  return embedding.length > 0 && model === LOCAL_MODEL.embedding;
}

/**
 * Makes the request that embeds a text. The text is read like the text of an item, so that both vectors are computed in
 * the same way.
 */
function requestOf(text: string) {
  return {
    item: { source: '', kind: '', title: '', text, titleOfParent: false, url: '', terms: [] },
    subject: { names: [], role: 'topic' as const },
    analysis: false,
    embed: true,
  };
}

/** Returns the cosine of two unit vectors; undefined if one of them is missing. */
function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number | undefined {
  if (!a || !b || a.length === 0 || a.length !== b.length) return undefined;
  let sum = 0;
  for (let n = 0; n < a.length; n += 1) sum += a[n]! * b[n]!;
  return sum;
}
