import type { SourceId } from '#contracts';
import { UpstreamError } from '../source.js';

/** Parses an answer as JSON. Throws `UpstreamError` `not_parsable` or, where the end is missing, `truncated`. */
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

// V8 says "Unexpected end", "Unterminated …", or names the position where it wanted more: the end of the text.
function isCutOff(error: unknown, text: string): boolean {
  const message = error instanceof Error ? error.message : '';
  if (/Unexpected end|Unterminated/.test(message)) return true;
  const position = /at position (\d+)/.exec(message)?.[1];
  return position !== undefined && Number(position) >= text.trimEnd().length;
}
