import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { ChannelDecisionSchema, type ChannelDecision, type ChannelEvent } from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { derivedId, isoOf, Refusal, systemClock } from '#kernel';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import type { ChannelFaults } from '../attempts/attempt-recorder.js';
import type { Delivery } from '../attempts/delivery.js';
import {
  configVersion,
  decide,
  evolve,
  NO_CHANNEL,
  type ChannelCommand,
  type ChannelState,
} from '../domain/channel.js';
import { channelsProjection } from '../projections/channels.projection.js';
import { channelEndpoint, channelIdIn } from './channel.js';

const channels: Aggregate<ChannelState, ChannelEvent, ChannelDecision> = {
  stream: 'CHANNELS',
  initial: NO_CHANNEL,
  evolve,
  decode: (data) => fromBinary(ChannelDecisionSchema, data),
  encode: (decision) => toBinary(ChannelDecisionSchema, decision),
};

/** The channel about which a command decides. */
export interface ChannelRef {
  accountId: string;
  channelId: string;
}

/** Decides commands on channels: takes the account's lock, reads CHANNELS, and appends to CHANNELS. */
@Injectable()
export class ChannelDecisions implements ChannelFaults {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /**
   * @param commandOf the command, or a function that returns it. The function is called under the account's lock, but
   *   not if the command id is repeated
   * @param onRepetition called after the transaction if the command id is repeated: the transaction that decided can
   *   have failed after the append, and then nothing of what `commandOf` wrote was stored
   * @returns the state after the command
   * @throws Refusal (see `decide` in domain/channel.ts, and `execute`)
   * @throws Outage as `execute` does
   */
  async run(
    { accountId, channelId }: ChannelRef,
    commandId: string,
    commandOf: ChannelCommand | ((tx: Tx) => Promise<ChannelCommand>),
    onRepetition?: () => Promise<void>,
  ): Promise<ChannelState> {
    let isRepetition = true;
    const state = await execute(this.database, this.store, {
      aggregate: channels,
      projection: channelsProjection,
      accountId,
      subjectTokens: [channelId],
      commandId,
      // Begins each attempt. An attempt can decide and then conflict, and the next attempt finds the repetition.
      read: () => {
        isRepetition = true;
        return Promise.resolve(undefined);
      },
      decide: async (before, tx) => {
        isRepetition = false;
        return decide(typeof commandOf === 'function' ? await commandOf(tx) : commandOf, before);
      },
      decisionOf: (events) =>
        create(ChannelDecisionSchema, {
          commandId,
          accountId,
          channelId,
          decidedAt: isoOf(systemClock.now()),
          events,
        }),
    });
    if (isRepetition) await onRepetition?.();
    return state;
  }

  /**
   * Deletes the row of a channel's failures. Called before the config of the channel changes, before the channel is
   * enabled, and after it was deleted.
   */
  async forgetFailures({ accountId, channelId }: ChannelRef): Promise<void> {
    await this.database.query('DELETE FROM webhook_endpoints WHERE account_id = $1 AND endpoint = $2', [
      accountId,
      channelEndpoint(channelId),
    ]);
  }

  async gone(delivery: Delivery, reason: string, statusCode: number, address?: string) {
    const version = versionOf(delivery);
    const state = await this.disable(
      delivery,
      address === undefined
        ? { kind: 'disable', reason, failures: 1, lastStatusCode: statusCode, version }
        : { kind: 'refuse-address', address, reason, statusCode },
    );
    if (state?.status !== 'live') return 'not-disabled';
    if (state.isDisabled) return 'disabled';
    return address === undefined && configVersion(state.config) !== version ? 'changed' : 'not-disabled';
  }

  async failing(delivery: Delivery, reason: string, failures: number, statusCode: number): Promise<boolean> {
    const version = versionOf(delivery);
    const command = { kind: 'disable', reason, failures, lastStatusCode: statusCode, version } as const;
    const state = await this.disable(delivery, command);
    return state?.status === 'live' && state.isDisabled;
  }

  /**
   * @returns the state after the command, which can be `deleted`; undefined only if an address cannot be refused because
   *   the channel does not exist any more
   */
  private async disable(delivery: Delivery, command: ChannelCommand): Promise<ChannelState | undefined> {
    const { accountId, endpoint, eventId, target } = delivery;
    const channelId = channelIdIn(endpoint) ?? '';
    const commandId = derivedId('channel-fault', channelId, eventId, target.id, command.kind);
    try {
      return await this.run({ accountId, channelId }, commandId, command);
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'not-found') return undefined;
      throw error;
    }
  }
}

function versionOf({ destination }: Delivery): string {
  return destination?.channel.version ?? '';
}
