import { Injectable } from '@nestjs/common';
import { done, retry, type Durable } from '#messaging';
import { CHARGED_STREAMS, chargesOf, chargingConsumerOf, type ChargedStream } from '../ledger/charges.js';
import { LedgerWriter } from '../ledger/ledger-writer.js';

/** The account's opening is on its way. */
const NO_LEDGER_YET_MS = 1000;

/** Charges what checks, events and lookups cost. A purged keyword's work is paid for all the same: it was done. */
@Injectable()
export class ChargesHandler {
  constructor(private readonly writer: LedgerWriter) {}

  durables(): Durable[] {
    return CHARGED_STREAMS.map((stream) => this.durable(stream));
  }

  private durable(stream: ChargedStream): Durable {
    return {
      stream,
      name: chargingConsumerOf(stream),
      batchSize: 1000,
      lingerMs: 200,
      handle: async (batch) => {
        const charges = batch.map(({ data }) => chargesOf(stream, data));
        const ledgers = await this.writer.write(
          charges.flatMap(({ accountId, causes }) =>
            causes.map((cause) => ({ accountId, command: { kind: 'charge', ...cause } })),
          ),
        );
        return charges.map(({ accountId, causes }) =>
          causes.length === 0 || ledgers.has(accountId) ? done : retry(NO_LEDGER_YET_MS),
        );
      },
    };
  }
}
