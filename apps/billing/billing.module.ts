import { Module } from '@nestjs/common';
import { DATABASE, serviceModule, type ServiceDefinition } from '#platform';
import type { Database } from '#postgres';
import { durableOf } from '#projections';
import { SecretBox } from '#secrets';
import type { BillingConfig } from './config.js';
import { AccountsHandler } from './handlers/accounts.handler.js';
import { accountsProjection } from './projections/accounts.projection.js';

@Module({})
class BillingModule {}

/**
 * Billing: who the customers are (accounts, plans, keys, secrets). The credit ledger takes its place here: a
 * durable on CHECKS and EVENTS that appends to CREDITS.
 */
export function billingService(config: BillingConfig): ServiceDefinition {
  return {
    name: 'billing',
    module: serviceModule(
      BillingModule,
      { providers: [{ provide: SecretBox, useValue: new SecretBox(config.MASTER_KEY) }, AccountsHandler] },
      {
        inject: [DATABASE, AccountsHandler],
        list: (database: Database, accounts: AccountsHandler) => ({
          durables: [durableOf(accountsProjection, database)],
          commands: accounts.commands(),
          loops: [],
        }),
      },
    ),
  };
}
