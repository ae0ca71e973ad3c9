import { parse } from 'lossless-json';
import { parseJson } from '../shared/json-answer.js';
import { UpstreamError } from '../source.js';

/**
 * Parses a response whose ids are numbers above 2^53. Integers that JavaScript cannot represent exactly become texts.
 * @throws UpstreamError like `parseJson`; `not_parsable` also if an object has the same key twice, with different values
 */
export function parseBigNumbers(text: string, status: number): unknown {
  // `parseJson` detects HTML and truncated responses.
  parseJson('tiktok', text, status);
  try {
    return parse(text, undefined, numberOrDigits);
  } catch {
    // Unlike JSON.parse, this parser refuses duplicate keys with different values.
    throw new UpstreamError('not_parsable', 'tiktok answered JSON that contradicts itself', status);
  }
}

function numberOrDigits(digits: string): number | string {
  const number = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(number) ? digits : number;
}
