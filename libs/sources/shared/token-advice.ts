import type { SourceId } from '#contracts';
import { UpstreamError } from '../source.js';

/**
 * Runs the request and adds `advice` to a 401. It is for sources that also work without a token: their HTTP client does
 * not know which setting to name.
 */
export async function askWithTokenAdvice<T>(
  source: SourceId,
  advice: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.kind !== 'unauthorized') throw error;
    throw new UpstreamError(
      'unauthorized',
      `${source} answered ${error.statusCode}: ${advice}`,
      error.statusCode,
    );
  }
}
