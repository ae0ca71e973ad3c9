import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import type { AnswerObservation, Check, ListingObservation } from '#contracts';
import {
  insertRows,
  NO_ID,
  type AnswerRow,
  type ClickHouseClient,
  type ListingObservationRow,
} from '#clickhouse';
import type { EventStore } from '#event-store';
import type { Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { OBSERVATIONS_SINK } from '#projections';
import { ConsumerPattern } from '#transport';
import { writeChecks } from './check-sink.js';
import { countMarketDay, touchedDays } from './market-days.js';

/**
 * Writes the observations of checks: prices of listings, and answers of AI engines. Then counts the statistics of the
 * affected market days again.
 */
@Controller()
export class ObservationsSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  // Each affected day is counted once per batch. So the consumer waits for a large batch.
  @ConsumerPattern({ stream: 'CHECKS', name: OBSERVATIONS_SINK, batchSize: 500, lingerMs: 1000 })
  write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return writeChecks(batch, this.database, this.store, (checks) => this.insert(checks));
  }

  private async insert(checks: readonly Check[]): Promise<void> {
    const listings = checks.flatMap((check) =>
      check.observations.flatMap(({ kind }) =>
        kind.case === 'listing' ? [listingRow(check, kind.value)] : [],
      ),
    );
    const answers = checks.flatMap((check) =>
      check.observations.flatMap(({ kind }) =>
        kind.case === 'answer' ? [answerRow(check, kind.value)] : [],
      ),
    );
    await insertRows<AnswerRow>(this.clickhouse, 'answers', answers);
    await insertRows<ListingObservationRow>(this.clickhouse, 'listing_observations', listings);
    for (const day of touchedDays(listings)) await countMarketDay(this.clickhouse, day);
  }
}

function listingRow(check: Check, seen: ListingObservation): ListingObservationRow {
  return {
    account_id: check.accountId,
    keyword_id: check.keywordId || NO_ID,
    watch_id: check.watchId,
    criteria_hash: check.criteriaHash,
    market: seen.market,
    listing_id: seen.listingId,
    observed_at: seen.observedAt,
    event: seen.event,
    price: seen.price,
    previous_price: seen.previousPrice || null,
    currency: seen.currency,
    title: seen.title,
    url: seen.url,
    brand: seen.brand,
    brand_ids: [...seen.brandIds],
    catalog_ids: [...seen.catalogIds],
    first_seen_at: seen.firstSeenAt,
  };
}

function answerRow(check: Check, answer: AnswerObservation): AnswerRow {
  return {
    account_id: check.accountId,
    keyword_id: check.keywordId || NO_ID,
    watch_id: check.watchId,
    check_id: check.checkId,
    engine: answer.engine,
    model: answer.model,
    market: answer.market,
    prompt: answer.prompt,
    answered_at: answer.answeredAt,
    text: answer.text,
    citations: JSON.stringify(answer.citations.map(({ url, title }) => ({ url, title }))),
    queries: [...answer.queries],
  };
}
