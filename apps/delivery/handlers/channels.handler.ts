import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import {
  AnsweredAddressSchema,
  DoneSchema,
  MadeSchema,
  type AnswerAddress,
  type ChangeChannel,
  type CreateChannel,
  type DeleteChannel,
  type EnableChannel,
} from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database, Tx } from '#postgres';
import { CommandPattern } from '#transport';
import { ChannelDecisions } from '../channels/channel-decisions.js';
import { askMissedOwners, askOwners } from '../channels/verifications.js';

/** Executes the commands on channels. */
@Controller()
export class ChannelsHandler {
  constructor(
    private readonly decisions: ChannelDecisions,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** Creates a channel. If its kind is email, asks the owners of the addresses for consent. */
  @CommandPattern(COMMANDS.createChannel)
  async create({ commandId, accountId, kind, name, config }: CreateChannel) {
    const channel = { accountId, channelId: commandId };
    const addresses = config?.to ?? [];
    const decide = async (tx: Tx) => {
      await askOwners(tx, channel, addresses, commandId);
      const existing = await countChannels(tx, accountId);
      return { kind: 'create', channelKind: kind, name, config, existing } as const;
    };
    await this.decisions.run(channel, commandId, decide, () =>
      askMissedOwners(this.database, channel, addresses, commandId),
    );
    return create(MadeSchema, { id: commandId });
  }

  /**
   * Changes a channel. If its kind is email, asks the owners of added addresses for consent. An added address can be
   * one that the channel had before: its owner is asked again if there was no answer then.
   */
  @CommandPattern(COMMANDS.changeChannel)
  async change({ commandId, accountId, channelId, name, config }: ChangeChannel) {
    const channel = { accountId, channelId };
    if (config) await this.decisions.forgetFailures(channel);
    const addresses = config?.to ?? [];
    const decide = async (tx: Tx) => {
      const asked = await askedAddresses(tx, channelId);
      const added = addresses.filter((address) => !asked.includes(address));
      await askOwners(tx, channel, added, commandId);
      return { kind: 'change', name, config } as const;
    };
    await this.decisions.run(channel, commandId, decide, () =>
      askMissedOwners(this.database, channel, addresses, commandId),
    );
    return create(DoneSchema);
  }

  /** Deletes a channel. Its waiting deliveries are given up when they become due. */
  @CommandPattern(COMMANDS.deleteChannel)
  async delete({ commandId, accountId, channelId }: DeleteChannel) {
    const channel = { accountId, channelId };
    await this.decisions.run(channel, commandId, { kind: 'delete' });
    await this.decisions.forgetFailures(channel);
    return create(DoneSchema);
  }

  @CommandPattern(COMMANDS.enableChannel)
  async enable({ commandId, accountId, channelId }: EnableChannel) {
    const channel = { accountId, channelId };
    await this.decisions.forgetFailures(channel);
    await this.decisions.run(channel, commandId, { kind: 'enable' });
    return create(DoneSchema);
  }

  /**
   * Stores the answer of an address's owner, who has confirmed with the link of a mail, or has unsubscribed with a link
   * or in the mail program.
   */
  @CommandPattern(COMMANDS.answerAddress)
  async answer({ commandId, accountId, channelId, address, answer }: AnswerAddress) {
    const kind = answer === 'verify' ? 'verify' : 'unsubscribe';
    try {
      await this.decisions.run({ accountId, channelId }, commandId, { kind, address });
      return create(AnsweredAddressSchema, { found: true });
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'not-found')
        return create(AnsweredAddressSchema, { found: false });
      throw error;
    }
  }
}

async function countChannels(tx: Tx, accountId: string): Promise<number> {
  const rows: { count: number }[] = await tx.query(
    'SELECT count(*)::int AS count FROM channels WHERE account_id = $1',
    [accountId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns the addresses that need no new question: the present addresses, and earlier addresses whose owners have
 * answered or that the mail server has refused.
 */
async function askedAddresses(tx: Tx, channelId: string): Promise<string[]> {
  const rows: { address: string }[] = await tx.query(
    `SELECT a.address FROM channel_addresses a JOIN channels c USING (channel_id)
     WHERE a.channel_id = $1 AND (a.state <> 'unverified' OR a.address = ANY (c.addresses))`,
    [channelId],
  );
  return rows.map(({ address }) => address);
}
