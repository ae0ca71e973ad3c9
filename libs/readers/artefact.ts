import { gunzipSync, gzipSync } from 'node:zlib';

/** Numbers of a model, as they are stored. */
export type Numbers = Int8Array | Float32Array;

/** The content of the weights file: the card of the models, and their numbers by name. */
export interface Artefact {
  card: ModelCard;
  numbers: ReadonlyMap<string, Numbers>;
}

/** A description of the models of one weights file. */
export interface ModelCard {
  version: string;
  /** Number of posts that each model was trained on, by model. */
  trainedOn: Record<string, number>;
  /** Words with their valences in the lists VADER and AFINN, each in the form `word vader afinn`. */
  lexicon: string[];
  /** English words that are often written in lower case. */
  ordinaryWords: string[];
  /** Further settings of the models. */
  settings: Record<string, number>;
}

interface Section {
  name: string;
  type: 'int8' | 'float32';
  length: number;
}

const MAGIC = 'EARSHOT1';
const HEADER_AT = MAGIC.length + 4;

/** Returns the compressed bytes of a weights file: a header as JSON, then the numbers in the order of the header. */
export function writeArtefact({ card, numbers }: Artefact): Uint8Array {
  const sections = [...numbers].map(([name, values]): Section => {
    return { name, type: values instanceof Int8Array ? 'int8' : 'float32', length: values.length };
  });
  const header = Buffer.from(JSON.stringify({ card, sections }));
  const start = Buffer.alloc(HEADER_AT);
  start.write(MAGIC);
  start.writeUInt32LE(header.length, MAGIC.length);
  const bodies = [...numbers.values()].map((values) =>
    Buffer.from(values.buffer, values.byteOffset, values.byteLength),
  );
  return gzipSync(Buffer.concat([start, header, ...bodies]), { level: 9 });
}

/** Reads a weights file. @throws Error if the bytes are not a weights file of this version of the program */
export function readArtefact(compressed: Uint8Array): Artefact {
  const bytes = gunzipSync(compressed);
  if (bytes.subarray(0, MAGIC.length).toString() !== MAGIC)
    throw new Error(
      'the weights of the local reader are not in the format of this version: run npm run readings:train',
    );
  const headerBytes = bytes.readUInt32LE(MAGIC.length);
  let at = HEADER_AT + headerBytes;
  const { card, sections } = JSON.parse(bytes.subarray(HEADER_AT, at).toString()) as {
    card: ModelCard;
    sections: Section[];
  };
  const numbers = new Map<string, Numbers>();
  for (const { name, type, length } of sections) {
    const size = type === 'int8' ? length : length * 4;
    // A copy, because 32-bit numbers must begin at a multiple of four.
    const copy = new Uint8Array(bytes.subarray(at, at + size)).buffer;
    numbers.set(name, type === 'int8' ? new Int8Array(copy) : new Float32Array(copy));
    at += size;
  }
  return { card, numbers };
}
