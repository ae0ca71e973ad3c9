import type { JsonValue } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { PRICE_BOOK_VERSION, type SourceId } from '#contracts';
import { storedCriteria } from '#criteria';
import { derivedId, Repeated } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import { lockAccount, type Database, type Tx } from '#postgres';
import { priceOf } from '#quotes';
import type { Logger } from '#telemetry';
import { Admission } from './planning/admission.js';
import { PlanEnforcement } from './planning/plan-enforcement.js';
import { recordQuotedPeriods } from './projections/quoted-periods.js';

const PAUSE_MS = 600_000;
/** True for the watches that a pass changes. `$1`: the present version; `$2`: whether this is the first pass. */
const OTHER_PRICES = `price_book_version <> $1 AND ($2 OR price_book_version < $1)`;

interface OutdatedWatch {
  watch_id: string;
  subject_id: string;
  source: SourceId;
  criteria: JsonValue;
  interval_seconds: number;
  backfill: boolean;
  co_brands: boolean;
}

/**
 * Looks for watches without a price of the present price book: another release created them. Usually only the first
 * start of a release with a new price book finds such watches. If this start is interrupted, the next start continues.
 * The loop stores the present prices of these watches. They are the quoted prices from then on; until then, polling
 * charges no more than the earlier quotes. The loop also pauses keywords and watches that exceed the account's plan. It
 * repeats its work, because a replica of the older release can create watches until it stops.
 */
@Injectable()
export class UpgradeLoop implements Loop {
  readonly name = 'upgrade';
  private stopping = false;
  private readonly passes = new Repeated({
    pauseMs: PAUSE_MS,
    run: () => this.pass(),
    failed: (error) =>
      this.log.error(
        { err: error },
        'watches of an older release could not be priced; Earshot tries again in 10 minutes',
      ),
  });
  private isFirstPass = true;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly plans: PlanEnforcement,
    private readonly admission: Admission,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.passes.start();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.passes.stop();
  }

  /**
   * Stores the present prices of all watches that have others. Only the first pass also replaces prices of a newer price
   * book, because only after a return to an older release are they wrong: while two releases run together, they would
   * replace each other's prices in every pass.
   */
  async pass(): Promise<void> {
    const accounts: { account_id: string }[] = await this.database.query(
      `SELECT DISTINCT account_id FROM watches JOIN accounts USING (account_id)
       WHERE ${OTHER_PRICES} AND retired_at IS NULL`,
      [PRICE_BOOK_VERSION, this.isFirstPass],
    );
    for (const { account_id: accountId } of accounts) {
      if (this.stopping) return;
      await this.plans.enforce(accountId, derivedId('upgrade', accountId, PRICE_BOOK_VERSION));
      await this.database.transaction((tx) => this.price(tx, accountId));
    }
    this.isFirstPass = false;
  }

  private async price(tx: Tx, accountId: string): Promise<void> {
    await lockAccount(tx, accountId);
    const watches: OutdatedWatch[] = await tx.query(
      `SELECT w.watch_id, COALESCE(w.keyword_id, w.watch_id) AS subject_id, w.source, w.criteria, w.interval_seconds,
         w.backfill, COALESCE((k.definition->>'coBrandsEnabled')::boolean, false) AS co_brands
       FROM watches w LEFT JOIN keywords k USING (keyword_id)
       WHERE w.account_id = $3 AND ${OTHER_PRICES} AND w.retired_at IS NULL`,
      [PRICE_BOOK_VERSION, this.isFirstPass, accountId],
    );
    const prices = watches.map((watch) => {
      const search = {
        source: watch.source,
        criteria: storedCriteria(watch.criteria),
        intervalSeconds: watch.interval_seconds,
        coBrands: watch.co_brands,
        backfill: watch.backfill,
      };
      return priceOf(search, this.admission.partsOf(watch.source));
    });
    await tx.query(
      `UPDATE watches w SET credits_per_check = p.per_check, first_scan_credits = p.first_scan, price_book_version = $4
       FROM unnest($1::uuid[], $2::int[], $3::int[]) AS p (watch_id, per_check, first_scan) WHERE w.watch_id = p.watch_id`,
      [
        watches.map((watch) => watch.watch_id),
        prices.map((price) => price.creditsPerCheck),
        prices.map((price) => price.firstScanCredits),
        PRICE_BOOK_VERSION,
      ],
    );
    const at = new Date().toISOString();
    const subjectIds = [...new Set(watches.map((watch) => watch.subject_id))];
    await recordQuotedPeriods(
      tx,
      subjectIds.map((subjectId) => ({ subjectId, at })),
    );
  }
}
