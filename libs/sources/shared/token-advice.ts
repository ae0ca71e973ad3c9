import type { SourceId } from '#contracts';
import { UpstreamError } from '../source.js';

/**
 * Runs the request. If it fails with an `unauthorized` error, throws this error with `advice` in its message. Sources
 * that also work without a token need this, because their HTTP client does not know which setting to name.
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
