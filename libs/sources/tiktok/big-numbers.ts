import { parse } from 'lossless-json';
import { parseJson } from '../shared/json-answer.js';
import { UpstreamError } from '../source.js';

/**
 * Parses a response in which ids are numbers above 2^53: numbers that do not fit a double become text.
 * @throws UpstreamError like `parseJson`
 */
export function parseBigNumbers(text: string, status: number): unknown {
  // First parsed as everywhere, because that detects HTML and truncated responses.
  parseJson('tiktok', text, status);
  try {
    return parse(text, undefined, numberOrDigits);
  } catch {
    // Unlike JSON.parse it refuses duplicate keys.
    throw new UpstreamError('not_parsable', 'tiktok answered JSON that contradicts itself', status);
  }
}

function numberOrDigits(digits: string): number | string {
  const number = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(number) ? digits : number;
}
