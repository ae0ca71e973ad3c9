import type { JsMsg } from '@nats-io/jetstream';
import { Controller } from '@nestjs/common';
import { done, retry, type ConsumerOptions, type Outcome } from '#messaging';
import { ConsumerPattern } from '#transport';
import { chargesOf, chargingConsumerOf, type ChargedStream } from '../ledger/charges.js';
import { LedgerWriter } from '../ledger/ledger-writer.js';

/** Delay before a retry while the account's ledger is not open. */
const RETRY_MS = 1000;

/**
 * Charges the cost of checks, events, lookups and answers of Explore. Work for a purged keyword is also charged,
 * because the work was done.
 */
@Controller()
export class ChargesHandler {
  constructor(private readonly writer: LedgerWriter) {}

  @ConsumerPattern(chargingConsumer('CHECKS'))
  checks(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return this.charge('CHECKS', batch);
  }

  @ConsumerPattern(chargingConsumer('EVENTS'))
  events(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return this.charge('EVENTS', batch);
  }

  @ConsumerPattern(chargingConsumer('LOOKUPS'))
  lookups(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return this.charge('LOOKUPS', batch);
  }

  @ConsumerPattern(chargingConsumer('EXPLORES'))
  explores(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return this.charge('EXPLORES', batch);
  }

  private async charge(stream: ChargedStream, batch: readonly JsMsg[]): Promise<Outcome[]> {
    const charges = batch.map(({ data }) => chargesOf(stream, data));
    const ledgers = await this.writer.write(
      charges.flatMap(({ accountId, causes }) =>
        causes.map((cause) => ({ accountId, command: { kind: 'charge', ...cause } })),
      ),
    );
    return charges.map(({ accountId, causes }) =>
      causes.length === 0 || ledgers.has(accountId) ? done : retry(RETRY_MS),
    );
  }
}

function chargingConsumer(stream: ChargedStream): ConsumerOptions {
  return { stream, name: chargingConsumerOf(stream), batchSize: 1000, lingerMs: 200 };
}
