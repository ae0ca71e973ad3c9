import { Inject, Injectable } from '@nestjs/common';
import type { EventStore } from '#event-store';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { channelEndpoint, type Channel } from '../channels/channel.js';
import { Channels, type KeywordChannels } from '../channels/channels.js';
import { ChannelPace } from '../channels/pace.js';
import { disabledIn, recipientsOf } from '../channels/recipients.js';
import { skipReasonOf } from '../channels/skip-reason.js';
import type { ReadEvent } from '../wire/pushed-event.reader.js';
import { DISABLED } from './claims.js';
import { keyOf, type Addressed, type Delivery, type GivenUp, type Place } from './delivery.js';
import { endedOf } from './ended-deliveries.js';
import { crowdedAddresses, waitingOf } from './pending-deliveries.js';
import { addressKey, Targets, type Webhook } from './targets.js';

/** An event and its message: when it was stored, and its trace context (`traceparent`). */
export interface CausedEvent extends Place {
  event: ReadEvent;
  cause: string | undefined;
  /**
   * The earliest time at which an attempt of the event can have been recorded, in ms; undefined if the event was not
   * handled before.
   */
  handledSince: number | undefined;
}

/** The deliveries of a batch of events. */
export interface NewDeliveries {
  deliveries: Delivery[];
  /**
   * Deliveries that wait, because their channel accepts no message now, or because earlier messages of the channel wait
   * for their first attempt.
   */
  paced: Delivery[];
  /** Deliveries that are never attempted, with the reason. */
  unsent: GivenUp[];
}

/** One event for one target of a channel. */
interface ToChannel extends CausedEvent {
  channel: Channel;
  disabledName: string | undefined;
  targetId: string;
  keyword: KeywordChannels;
}

/** Finds the targets of events: the webhook of the watch or keyword, and channels. */
@Injectable()
export class FirstDeliveries {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly targets: Targets,
    private readonly channels: Channels,
    private readonly pace: ChannelPace,
  ) {}

  /**
   * Leaves out deliveries that have ended, and deliveries that are already in `pending_deliveries`: the retry loop makes
   * their attempts.
   */
  async of(events: readonly CausedEvent[]): Promise<NewDeliveries> {
    const repeated = events.filter(({ handledSince }) => handledSince !== undefined);
    const [toWebhooks, toChannels, known] = await Promise.all([
      this.toWebhooks(events),
      this.toChannels(events),
      this.known(repeated),
    ]);
    const isNew = (delivery: Addressed) => known.size === 0 || !known.has(keyOf(delivery));
    return {
      deliveries: [...toWebhooks.deliveries, ...toChannels.deliveries].filter(isNew),
      paced: toChannels.paced.filter(isNew),
      unsent: [...toWebhooks.unsent, ...toChannels.unsent].filter(isNew),
    };
  }

  private async known(repeated: readonly CausedEvent[]): Promise<ReadonlySet<string>> {
    const ids = repeated.map(({ event }) => event.eventId);
    // The waiting deliveries are read first. So a delivery that ends between the two reads is in the second result.
    const waiting = await waitingOf(this.database, ids);
    const ended = await endedOf(this.store, repeated);
    return new Set([...waiting, ...ended]);
  }

  private async toWebhooks(events: readonly CausedEvent[]): Promise<NewDeliveries> {
    const webhooks = await this.targets.webhooksOf(events.map(({ event }) => event.watchId));
    const result: NewDeliveries = { deliveries: [], paced: [], unsent: [] };
    for (const caused of events) {
      const { event } = caused;
      const webhook = webhooks.get(event.watchId);
      if (!webhook || !isFor(webhook, event)) continue;
      const delivery = toWebhook(caused, webhook);
      if (webhook.disabledReason !== undefined) result.unsent.push({ ...delivery, reason: DISABLED });
      else result.deliveries.push(delivery);
    }
    return result;
  }

  private async toChannels(events: readonly CausedEvent[]): Promise<NewDeliveries> {
    const result: NewDeliveries = { deliveries: [], paced: [], unsent: [] };
    const found = await this.recipients(events);
    if (found.length === 0) return result;
    const addresses = found.map(({ channel: { accountId, channelId } }) => ({
      accountId,
      endpoint: channelEndpoint(channelId),
    }));
    const [endpoints, crowded] = await Promise.all([
      this.targets.endpoints(addresses),
      crowdedAddresses(this.database, addresses),
    ]);
    const waits = new Set(crowded);
    for (const { channel, disabledName, targetId, keyword, ...caused } of found) {
      const { accountId, channelId, kind: channelKind } = channel;
      const endpoint = channelEndpoint(channelId);
      const key = addressKey({ accountId, endpoint });
      const known = endpoints.get(key);
      if (!known) continue;
      const now = Date.now();
      const delivery: Delivery = {
        ...unaddressed(caused),
        firstAt: now,
        place: { storedAt: caused.storedAt, seq: caused.seq },
        target: { kind: 'channel', id: targetId },
        endpoint,
        channelKind,
        signing: known.signing,
        failingSince: known.failingSince,
        destination: { channel, keywordName: keyword.name, disabledName, timezone: keyword.timezone },
      };
      const reason = skipReasonOf(delivery, channel, keyword);
      if (reason !== undefined) result.unsent.push({ ...delivery, reason });
      // The message waits if the channel accepts no message now. It also waits while earlier messages of the channel
      // wait for their first attempt, because these must be sent first.
      else if (known.isPaused || waits.has(key) || !this.pace.take(endpoint, channelKind, now)) {
        result.paced.push(delivery);
        waits.add(key);
      } else result.deliveries.push(delivery);
    }
    return result;
  }

  /**
   * Finds the channels of the events. Leaves out channels of another account and deleted channels: nothing is recorded
   * for them.
   */
  private async recipients(events: readonly CausedEvent[]): Promise<ToChannel[]> {
    const keywords = await this.channels.ofKeywords(
      events.flatMap(({ event }) => (event.keywordId === '' ? [] : [event.keywordId])),
    );
    const wanted = events.flatMap((caused) => {
      const keyword = keywords.get(caused.event.keywordId);
      return keyword ? recipientsOf(caused.event, keyword).map((id) => ({ ...caused, keyword, id })) : [];
    });
    const disabled = wanted.flatMap(({ event }) => disabledIn(event.envelope) || []);
    const channels = await this.channels.find([...wanted.map(({ id }) => id), ...disabled]);
    return wanted.flatMap(({ id, ...one }) => {
      const channel = channels.get(id);
      if (channel?.accountId !== one.event.accountId) return [];
      const disabledName = channels.get(disabledIn(one.event.envelope))?.name;
      return targetIds(channel).map((targetId) => ({ ...one, channel, disabledName, targetId }));
    });
  }
}

/**
 * Returns true if the webhook gets the event: because a rule or an alert sends it, or because the event is pushed and
 * the webhook takes ordinary events of this type.
 */
function isFor({ isOrdinary, only }: Webhook, { push, type, ruleWebhook }: ReadEvent): boolean {
  return ruleWebhook || (push && isOrdinary && (!only || only.includes(type)));
}

/**
 * Returns the ids of a channel's targets. Each verified address of an email channel is a target, and gets a separate
 * mail. If no address is verified, all addresses are targets, so that the reason is recorded for each.
 */
function targetIds(channel: Channel): string[] {
  if (channel.kind !== 'email') return [channel.channelId];
  const verified = channel.addresses.filter(({ state }) => state === 'verified');
  return (verified.length > 0 ? verified : channel.addresses).map(({ targetId }) => targetId);
}

/**
 * Returns the delivery of an event to a webhook. Repeats the fields of `unaddressed`, because merging two objects takes
 * several times as long, and this function runs for each event.
 */
function toWebhook({ event, cause }: CausedEvent, webhook: Webhook): Delivery {
  return {
    eventId: event.eventId,
    accountId: event.accountId,
    watchId: event.watchId,
    keywordId: event.keywordId,
    source: event.source,
    body: event.envelope,
    cause,
    attempts: 0,
    firstAt: Date.now(),
    pending: false,
    target: webhook.target,
    endpoint: webhook.endpoint,
    signing: webhook.signing,
    failingSince: webhook.failingSince,
  };
}

function unaddressed({ event, cause }: CausedEvent) {
  const { eventId, accountId, watchId, keywordId, source, envelope: body } = event;
  return {
    ...{ eventId, accountId, watchId, keywordId, source, body, cause },
    attempts: 0,
    pending: false,
  };
}
