import { newId } from '#kernel';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { claimDue, releaseClaim, releaseSearches, type ClaimedSearch, type DueSearch } from './due-work.js';

/**
 * Claims searches of one lane and gives them back. While the tables are out of reach it owes what it could not give
 * back: a search that stayed claimed would not be asked for until its claim has run out.
 */
export class Claims {
  private readonly owedSearches = new Set<ClaimedSearch>();
  /** Claims of which it may not be known what they took. */
  private readonly owedClaims = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly lane: string,
    private readonly log: Logger,
  ) {}

  /**
   * Claims due searches and hands them over; where that fails, all of them are given back.
   * @returns how many there were
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
      this.owedClaims.add(claim);
      throw error;
    }
  }

  /** Gives searches back unread, at the next opportunity where it does not work now. */
  async giveBack(searches: readonly ClaimedSearch[]): Promise<void> {
    for (const search of searches) this.owedSearches.add(search);
    await this.settleDebts().catch((error: unknown) =>
      this.log.error({ err: error, lane: this.lane }, 'searches could not be given back; it is tried again'),
    );
  }

  /** Gives back what could not be given back before. */
  async settleDebts(): Promise<void> {
    const searches = [...this.owedSearches];
    if (searches.length > 0) await releaseSearches(this.database, searches);
    for (const search of searches) this.owedSearches.delete(search);
    for (const claim of [...this.owedClaims]) {
      await releaseClaim(this.database, this.lane, claim);
      this.owedClaims.delete(claim);
    }
  }
}
