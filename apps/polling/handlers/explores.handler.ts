import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { creditsPerExploredSource, MadeSchema, PRICE_BOOK_VERSION, type StartExplore } from '#contracts';
import { release, reserve, type OwnReservation, type Reservation } from '#credits';
import type { EventStore } from '#event-store';
import { exploredIdOf, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import { CommandPattern } from '#transport';
import { ExploreDecisions } from '../explore/explore-decisions.js';
import { EXPLORE_RESERVED_SECONDS } from '../explore/explore-worker.js';

/** Starts Explores. */
@Controller()
export class ExploresHandler {
  private readonly decisions: ExploreDecisions;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) store: EventStore,
  ) {
    this.decisions = new ExploreDecisions(database, store);
  }

  /**
   * Reserves the price of all sources, then stores the request. A repeated command reserves nothing, because its sources
   * can already be charged.
   * @throws Refusal `not-covered` if the credits are missing, `unavailable` if the account's ledger is not open yet,
   *   `conflict` if too many Explores run
   */
  @CommandPattern(COMMANDS.startExplore)
  async start({ commandId: exploreId, accountId, sources, ...asked }: StartExplore) {
    const credits = creditsPerExploredSource();
    // The Explore is the holder of the reservation of each source until this source has ended.
    const reservations = sources.map((source) => ({
      reservationId: exploredIdOf(exploreId, source),
      accountId,
      credits,
      lifetimeSeconds: EXPLORE_RESERVED_SECONDS,
      holder: exploreId,
    }));
    const isStored = () => this.decisions.isRequested(accountId, exploreId);
    if (!(await isStored())) await this.reserve(reservations);
    const { question, market, limit, terms, feedUrls } = asked;
    let wasAsked = false;
    await this.decisions
      .decide({ accountId, exploreId, commandId: exploreId }, async (tx) => {
        const running = await runningOf(tx, accountId, exploreId);
        wasAsked = true;
        return {
          kind: 'request',
          ...{ question, market, limit, sources, terms, feedUrls },
          creditsQuoted: credits * sources.length,
          priceBookVersion: PRICE_BOOK_VERSION,
          running,
        };
      })
      .catch(async (error: unknown) => {
        // An Explore that is stored needs its reservations. If the store was asked, and the error is no refusal, the
        // Explore is possibly stored, or will be stored after this error.
        const isRefused = error instanceof Refusal || !wasAsked;
        if (isRefused && !(await isStored().catch(() => true))) await release(this.database, reservations);
        throw error;
      });
    return create(MadeSchema, { id: exploreId });
  }

  /** @throws Refusal; then nothing stays reserved */
  private async reserve(reservations: readonly (Reservation & OwnReservation)[]): Promise<void> {
    const { shortages, unopened } = await reserve(this.database, reservations);
    const [shortage] = shortages.values();
    if (unopened.size === 0 && !shortage) return;
    await release(this.database, reservations);
    if (!shortage) throw Refusal.unavailable('the account’s ledger is not open yet; try again');
    const credits = creditsPerExploredSource();
    throw Refusal.insufficientCredits(
      credits * reservations.length,
      shortage.available + credits * (reservations.length - shortages.size),
    );
  }
}

async function runningOf(tx: Tx, accountId: string, exploreId: string): Promise<number> {
  const [row]: { count: number }[] = await tx.query(
    `SELECT count(DISTINCT e.explore_id)::int AS count FROM explores e JOIN explore_sources s USING (explore_id)
     WHERE e.account_id = $1 AND e.explore_id <> $2 AND s.status = 'queued'`,
    [accountId, exploreId],
  );
  return row?.count ?? 0;
}
