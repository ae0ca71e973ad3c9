import type { SourceId } from '#contracts';
import { UpstreamError } from '../source.js';

/**
 * Asks; a 401 is told with `advice`. For sources that work without a token too: their door knows of no setting that
 * it could name.
 */
export async function askAdvised<T>(source: SourceId, advice: string, ask: () => Promise<T>): Promise<T> {
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
