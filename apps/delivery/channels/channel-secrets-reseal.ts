import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { newId } from '#kernel';
import type { Bus } from '#messaging';
import { BUS, DATABASE, LOG, renewKeyCheck } from '#platform';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';
import type { Logger } from '#telemetry';
import { ChannelDecisions } from './channel-decisions.js';

/**
 * Encrypts the secrets of all channels with the present MASTER_KEY if the setting also contains an earlier key. Runs
 * when the service starts. After a crash, the next start encrypts the remaining secrets.
 */
@Injectable()
export class ChannelSecretsReseal implements OnModuleInit {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
    private readonly box: SecretBox,
    private readonly decisions: ChannelDecisions,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.box.isRotating) return;
    const { state } = await this.bus.jsm.streams.info('CHANNELS', { subjects_filter: 'channels.>' });
    const reseal = (sealed: Uint8Array) => this.box.reseal(sealed);
    let failures = 0;
    for (const subject of Object.keys(state.subjects ?? {})) {
      const [, accountId = '', channelId = ''] = subject.split('.');
      await this.decisions
        .run({ accountId, channelId }, newId(), { kind: 'reseal', reseal })
        .catch((error: unknown) => {
          failures += 1;
          this.log.error(
            { err: error, accountId, channelId },
            'the secret of a channel could not be encrypted with the new key',
          );
        });
    }
    if (failures > 0) return;
    await renewKeyCheck(this.database, this.box);
    this.log.info('the secrets of channels were encrypted with the present MASTER_KEY');
  }
}
