import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { newId } from '#kernel';
import type { Bus } from '#messaging';
import { BUS, DATABASE, LOG, renewKeyCheck } from '#platform';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';
import type { Logger } from '#telemetry';
import { AccountDecisions } from './account-decisions.js';

/**
 * If MASTER_KEY also contains an earlier key, encrypts the secrets of every account with the current key. Runs while
 * the service starts, for all accounts in the stream. After a crash, the next start encrypts the remaining secrets.
 */
@Injectable()
export class SecretsReseal implements OnModuleInit {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
    private readonly box: SecretBox,
    private readonly decisions: AccountDecisions,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.box.isRotating) return;
    const { state } = await this.bus.jsm.streams.info('ACCOUNTS', { subjects_filter: 'accounts.>' });
    const accountIds = Object.keys(state.subjects ?? {}).map((subject) => subject.slice('accounts.'.length));
    let failures = 0;
    for (const accountId of accountIds)
      await this.reseal(accountId).catch((error: unknown) => {
        failures += 1;
        this.log.error(
          { err: error, accountId },
          'the secrets of an account could not be encrypted with the new key',
        );
      });
    if (failures > 0) return;
    await renewKeyCheck(this.database, this.box);
    this.log.info({ accounts: accountIds.length }, 'secrets were encrypted with the present MASTER_KEY');
  }

  /** @throws Error if none of the keys decrypts the account's secrets */
  private async reseal(accountId: string): Promise<void> {
    const reseal = (sealed: Uint8Array) => (sealed.length > 0 ? this.box.reseal(sealed) : undefined);
    await this.decisions.run(accountId, newId(), { kind: 'reseal-secrets', reseal });
  }
}
