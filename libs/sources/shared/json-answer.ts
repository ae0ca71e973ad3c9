import type { SourceId } from '#contracts';
import { UpstreamError } from '../source.js';

/**
 * Parses a response as JSON.
 * @throws UpstreamError `not_parsable`, or `truncated` if the end is missing
 */
export function parseJson(source: SourceId, text: string, status = 200): unknown {
  const start = text.trimStart();
  if (start.startsWith('<')) {
    throw new UpstreamError('not_parsable', `${source} answered HTML where JSON was expected`, status);
  }
  if (start === '') {
    throw new UpstreamError('not_parsable', `${source} answered nothing where JSON was expected`, status);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (isCutOff(error, text)) {
      throw new UpstreamError('truncated', `${source} answered JSON that breaks off in the middle`, status);
    }
    throw new UpstreamError('not_parsable', `${source} answered something that is not JSON`, status);
  }
}

// V8 reports "Unexpected end", "Unterminated …", or the position at which the text ended too early.
function isCutOff(error: unknown, text: string): boolean {
  const message = error instanceof Error ? error.message : '';
  if (/Unexpected end|Unterminated/.test(message)) return true;
  const position = /at position (\d+)/.exec(message)?.[1];
  return position !== undefined && Number(position) >= text.trimEnd().length;
}
