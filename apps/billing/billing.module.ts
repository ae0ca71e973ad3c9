import { Module } from '@nestjs/common';
import type { EventStore } from '#event-store';
import { systemClock, type Clock } from '#kernel';
import type { Bus } from '#messaging';
import {
  BUS,
  DATABASE,
  LOG,
  projectionController,
  serviceModule,
  STORE,
  type ServiceDefinition,
} from '#platform';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';
import type { Logger } from '#telemetry';
import type { BillingConfig } from './config.js';
import { AccountDecisions } from './handlers/account-decisions.js';
import { AccountsHandler } from './handlers/accounts.handler.js';
import { ChargesHandler } from './handlers/charges.handler.js';
import { CreditsHandler } from './handlers/credits.handler.js';
import { InvitationsHandler } from './handlers/invitations.handler.js';
import { LedgersHandler } from './handlers/ledgers.handler.js';
import { MembersHandler } from './handlers/members.handler.js';
import { ResetTokens } from './handlers/reset-tokens.js';
import { SecretsReseal } from './handlers/secrets-reseal.js';
import { AccountLedgers } from './ledger/account-ledgers.js';
import { ReservationsLoop } from './ledger/reservations.loop.js';
import { LedgerWriter } from './ledger/ledger-writer.js';
import { RenewalsLoop } from './ledger/renewals.loop.js';
import { accountsProjection } from './projections/accounts.projection.js';

@Module({})
class BillingModule {}

/**
 * Returns the service billing: it manages accounts (members, plans, keys, secrets), and the ledgers of their credits.
 * @param clock for the ends of periods and the expiry of packs
 */
export function billingService(config: BillingConfig, clock: Clock = systemClock): ServiceDefinition {
  return {
    name: 'billing',
    module: serviceModule(
      BillingModule,
      {
        providers: [
          { provide: SecretBox, useValue: new SecretBox(config.MASTER_KEY) },
          { provide: ResetTokens, useValue: new ResetTokens(config.MASTER_KEY) },
          {
            provide: LedgerWriter,
            inject: [DATABASE, STORE],
            useFactory: (database: Database, store: EventStore) => new LedgerWriter(database, store, clock),
          },
          {
            provide: RenewalsLoop,
            inject: [DATABASE, LedgerWriter, LOG],
            useFactory: (database: Database, writer: LedgerWriter, log: Logger) =>
              new RenewalsLoop(database, writer, clock, log),
          },
          {
            provide: ReservationsLoop,
            inject: [DATABASE, BUS, LOG],
            useFactory: (database: Database, bus: Bus, log: Logger) =>
              new ReservationsLoop(database, bus, log),
          },
          AccountDecisions,
          AccountLedgers,
          SecretsReseal,
        ],
        controllers: [
          AccountsHandler,
          InvitationsHandler,
          MembersHandler,
          LedgersHandler,
          ChargesHandler,
          CreditsHandler,
          projectionController(accountsProjection),
        ],
      },
      {
        inject: [RenewalsLoop, ReservationsLoop],
        list: (...loops: [RenewalsLoop, ReservationsLoop]) => ({ loops }),
      },
    ),
  };
}
