import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { TestedChannelSchema, type TestChannel } from '#contracts';
import { withAccountLock } from '#decisions';
import { isoOf, Refusal, within } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { currentTraceparent } from '#telemetry';
import { CommandPattern } from '#transport';
import type { AttemptResult, Delivery } from '../attempts/delivery.js';
import { addressKey, Targets } from '../attempts/targets.js';
import { TestQuota } from '../attempts/test-quota.js';
import { channelEndpoint, type Channel, type ChannelKind } from '../channels/channel.js';
import { ChannelSender } from '../channels/channel-sender.js';
import { Channels } from '../channels/channels.js';
import { askOwners } from '../channels/verifications.js';
import { sampleEvent } from '../domain/sample-event.js';

/**
 * Sends a sample message to a channel, even if the channel is disabled. Also asks the owners of unverified addresses
 * for consent again. The message is not recorded.
 */
@Controller()
export class ChannelTestHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly channels: Channels,
    private readonly targets: Targets,
    private readonly sender: ChannelSender,
    private readonly quota: TestQuota,
  ) {}

  /**
   * @throws Refusal `not-found`, or `too-many` in four cases: the account's tests of this minute are used up; no
   *   address is verified, and the mails of `askOwners` would exceed a maximum; all connections to the mail server are
   *   in use; the destination has asked the sender to wait
   */
  @CommandPattern(COMMANDS.testChannel)
  async test({ commandId, accountId, channelId }: TestChannel) {
    const channel = (await this.channels.find([channelId])).get(channelId);
    if (channel?.accountId !== accountId) throw Refusal.notFound('channel');
    await this.quota.count(accountId);
    if (channel.kind !== 'email') return this.sendTo(channel, [], commandId);
    const [verified, unverified] = [addressesIn(channel, 'verified'), addressesIn(channel, 'unverified')];
    if (verified.length > 0) {
      const tested = await this.sendTo(channel, verified, commandId);
      const asked = await this.askAgain(channel, unverified, commandId).catch(limitText);
      return asked === '' ? tested : { ...tested, message: `${tested.message}; ${asked}` };
    }
    const asked = await this.askAgain(channel, unverified, commandId);
    const message =
      asked === ''
        ? 'not sent: every address has unsubscribed or was refused'
        : `not sent: the addresses are not verified; ${asked}`;
    return create(TestedChannelSchema, { delivered: false, message });
  }

  private async sendTo(channel: Channel, verified: readonly string[], commandId: string) {
    const deliveries = await this.deliveries(channel, verified, commandId);
    const results = await Promise.all(deliveries.map((delivery) => this.send(delivery)));
    const worst = results.find(({ delivered }) => !delivered) ?? results[0];
    return create(TestedChannelSchema, {
      delivered: worst?.delivered ?? false,
      statusCode: worst?.statusCode ?? 0,
      durationMs: Math.max(0, ...results.map(({ durationMs }) => durationMs)),
      message: worst?.delivered ? 'the test message was accepted' : (worst?.message ?? ''),
    });
  }

  /** @returns a text for people about the sent verifications; empty if no address needs a verification */
  private async askAgain(
    { accountId, channelId }: Channel,
    addresses: readonly string[],
    commandId: string,
  ): Promise<string> {
    if (addresses.length === 0) return '';
    await withAccountLock(this.database, accountId, (tx) =>
      askOwners(tx, { accountId, channelId }, addresses, commandId),
    );
    return `the verification was sent again to ${addresses.join(', ')}`;
  }

  private async deliveries(
    channel: Channel,
    verified: readonly string[],
    eventId: string,
  ): Promise<Delivery[]> {
    const address = { accountId: channel.accountId, endpoint: channelEndpoint(channel.channelId) };
    const endpoint = (await this.targets.endpoints([address])).get(addressKey(address));
    if (!endpoint) throw Refusal.notFound('account');
    const now = Date.now();
    const targetIds =
      channel.kind === 'email'
        ? channel.addresses.filter((one) => verified.includes(one.address)).map(({ targetId }) => targetId)
        : [channel.channelId];
    return targetIds.map((id) => ({
      ...address,
      eventId,
      target: { kind: 'channel', id },
      channelKind: channel.kind,
      watchId: '',
      keywordId: '',
      source: '',
      body: Buffer.from(JSON.stringify(sampleEvent(eventId, 'hn_item.created', isoOf(now)))),
      signing: endpoint.signing,
      attempts: 0,
      firstAt: now,
      failingSince: undefined,
      pending: false,
      cause: currentTraceparent(),
      destination: { channel, keywordName: 'Test of a channel', disabledName: undefined, timezone: 'UTC' },
    }));
  }

  private async send(delivery: Delivery): Promise<Pick<AttemptResult, ShownOfAttempt>> {
    const sent = new Promise<AttemptResult>((resolve, reject) =>
      this.sender.send(delivery, (error, result) => {
        if (result) resolve(result);
        else if (error === undefined) reject(notSent(delivery.channelKind));
        else reject(error instanceof Error ? error : new Error(String(error)));
      }),
    );
    return (await within(ANSWER_WITHIN_MS, sent)) ? sent : UNANSWERED;
  }
}

type ShownOfAttempt = 'delivered' | 'statusCode' | 'durationMs' | 'message';

/** A user does not wait longer than this for the result of a test, although a mail server can answer later. */
const ANSWER_WITHIN_MS = 15_000;
const UNANSWERED = {
  ...{ delivered: false, statusCode: 0, durationMs: ANSWER_WITHIN_MS },
  message: `no answer within ${ANSWER_WITHIN_MS / 1000} s; the message can still arrive`,
};

/**
 * Returns the text of a refusal of `askOwners` because of a maximum: such a refusal does not change the test of the
 * verified addresses. Throws any other error again.
 */
function limitText(error: unknown): string {
  if (error instanceof Refusal && error.kind === 'too-many') return error.message;
  throw error;
}

/**
 * Returns the refusal for a test without an attempt: the destination has asked the sender to wait, or no connection is
 * free for a mail.
 */
function notSent(kind: ChannelKind | undefined): Refusal {
  const reason =
    kind === 'email'
      ? 'the mail server accepts no further mail now'
      : 'the destination of the channel accepts no messages now';
  return new Refusal('too-many', 'TOO_MANY_REQUESTS', `${reason}; try again in a minute`);
}

function addressesIn(
  channel: Extract<Channel, { kind: 'email' }>,
  wanted: 'verified' | 'unverified',
): string[] {
  return channel.addresses.filter(({ state }) => state === wanted).map(({ address }) => address);
}
