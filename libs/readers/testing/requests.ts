import type { ReadRequest, ReadSubject } from '../reading.js';
import { Reader } from '../reader.js';
import { loadWeights } from '../weights.js';

/** Returns a request to read a post about Acme. */
export function requestOf(text: string, subject: Partial<ReadSubject> = {}, source = 'reddit'): ReadRequest {
  const item = { source, kind: 'post', title: '', text, titleOfParent: false, url: '', terms: [] };
  return { item, subject: { names: ['Acme'], role: 'own', ...subject }, analysis: true, embed: false };
}

const reader = new Reader(loadWeights());

/** Returns the reading of a post, without the sentence embedding. */
export function readingOf(request: ReadRequest) {
  return reader.read(reader.prepare(request));
}
