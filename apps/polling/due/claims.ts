import { newId } from '#kernel';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { claimDue } from './claim-due.js';
import { releaseClaim, releaseSearches, type ClaimedSearch, type DueSearch } from './due-work.js';

/**
 * Claims searches of one lane and releases them. If a release fails because Postgres is unavailable, the release is
 * repeated later: otherwise no replica could read the searches until their claim expires.
 */
export class Claims {
  private readonly unreleasedSearches = new Set<ClaimedSearch>();
  /** Failed claims that must be released. It can be unknown which searches a failed claim contains. */
  private readonly unreleasedClaims = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly lane: string,
    private readonly log: Logger,
  ) {}

  /**
   * Claims due searches and passes them to `handOver`. If the claim or `handOver` fails, all searches of the claim are
   * released later.
   * @returns the number of claimed searches
   */
  async take(
    limit: number,
    { withState = true },
    handOver: (claimed: DueSearch[]) => Promise<void>,
  ): Promise<number> {
    const claim = newId();
    try {
      const claimed = await claimDue(this.database, this.lane, limit, { claim, withState });
      await handOver(claimed);
      return claimed.length;
    } catch (error) {
      this.unreleasedClaims.add(claim);
      throw error;
    }
  }

  /** Releases searches that were not read or not recorded. A failed release is retried later. */
  async giveBack(searches: readonly ClaimedSearch[]): Promise<void> {
    for (const search of searches) this.unreleasedSearches.add(search);
    await this.retryReleases().catch((error: unknown) =>
      this.log.error(
        { err: error, lane: this.lane },
        'searches could not be released; the release is retried',
      ),
    );
  }

  /** Releases the searches and failed claims that are not released yet. @throws the error of a release that fails */
  async retryReleases(): Promise<void> {
    const searches = [...this.unreleasedSearches];
    if (searches.length > 0) await releaseSearches(this.database, searches);
    for (const search of searches) this.unreleasedSearches.delete(search);
    for (const claim of [...this.unreleasedClaims]) {
      await releaseClaim(this.database, this.lane, claim);
      this.unreleasedClaims.delete(claim);
    }
  }
}
