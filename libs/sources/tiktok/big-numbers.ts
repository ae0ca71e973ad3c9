import { parse } from 'lossless-json';
import { parseJson } from '../shared/json-answer.js';
import { UpstreamError } from '../source.js';

/**
 * Parses an answer in which ids are numbers above 2^53: what does not fit a double is its digits, as text. Throws
 * `UpstreamError` as `parseJson` does.
 */
export function parseBigNumbers(text: string, status: number): unknown {
  // First as everywhere: it knows HTML from an answer that breaks off.
  parseJson('tiktok', text, status);
  try {
    return parse(text, undefined, numberOrDigits);
  } catch {
    // It refuses what JSON.parse takes: a key that is there twice.
    throw new UpstreamError('not_parsable', 'tiktok answered JSON that contradicts itself', status);
  }
}

function numberOrDigits(digits: string): number | string {
  const number = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(number) ? digits : number;
}
