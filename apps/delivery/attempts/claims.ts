import { Inject, Injectable } from '@nestjs/common';
import type { EventStore } from '#event-store';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { channelIdIn } from '../channels/channel.js';
import { Channels } from '../channels/channels.js';
import { ChannelPace } from '../channels/pace.js';
import { disabledIn } from '../channels/recipients.js';
import { skipReasonOf } from '../channels/skip-reason.js';
import { keyOf, type Addressed, type Delivery, type GivenUp } from './delivery.js';
import { deliveredOf } from './ended-deliveries.js';
import { EndpointQueues } from './endpoint-queues.js';
import { claimPending, type ClaimLimits } from './claim-pending.js';
import type { ClaimedDelivery, PendingDelivery } from './pending-deliveries.js';
import { addressKey, Targets, type Address, type Endpoint } from './targets.js';

/** Why events are not sent to a disabled endpoint, and how to enable it. */
export const DISABLED = 'not sent: the endpoint is disabled; POST /v1/endpoints/enable enables it';

/** Claimed deliveries, grouped by what happens to them. */
export interface Claims {
  ready: Delivery[];
  /** Deliveries whose channel accepts no more messages now. */
  paced: Delivery[];
  /**
   * Deliveries whose watch or keyword has a new webhook address. They start again there, and are given up at the old
   * address.
   */
  moved: PendingDelivery[];
  givenUp: GivenUp[];
}

/** The claims of one pass through the endpoints, or of a part of it. */
export interface PassedClaims extends Claims {
  /** Deliveries whose success is recorded already. */
  delivered: ClaimedDelivery[];
  /** The next claim continues after this endpoint; undefined: the pass is complete. */
  next: Address | undefined;
}

/** Claims due deliveries, and finds which of them can be sent, and where. */
@Injectable()
export class PendingClaims {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly targets: Targets,
    private readonly channels: Channels,
    private readonly pace: ChannelPace,
    private readonly queues: EndpointQueues,
  ) {}

  async claim(limits: ClaimLimits): Promise<PassedClaims> {
    const except = [...this.pace.full(Date.now()), ...this.queues.full()];
    const claimed = await claimPending(this.database, limits, except);
    const ended = await deliveredOf(this.store, claimed);
    const isDelivered = (one: ClaimedDelivery) => ended.has(keyOf(one));
    const open = claimed.filter((one) => !isDelivered(one));
    const isToChannel = ({ endpoint }: ClaimedDelivery) => channelIdIn(endpoint) !== undefined;
    const claims = await resolveClaims(
      this.database,
      this.targets,
      open.filter((one) => !isToChannel(one)),
    );
    await this.resolveChannels(claims, open.filter(isToChannel));
    return {
      ...claims,
      delivered: claimed.filter(isDelivered),
      next: claimed.length < limits.max ? undefined : claimed.at(-1),
    };
  }

  private async resolveChannels(claims: Claims, claimed: readonly ClaimedDelivery[]): Promise<void> {
    if (claimed.length === 0) return;
    const [channels, keywords, endpoints] = await Promise.all([
      this.channels.find(
        claimed.flatMap(({ endpoint, body }) =>
          [channelIdIn(endpoint) ?? '', disabledIn(body)].filter((id) => id !== ''),
        ),
      ),
      this.channels.ofKeywords(claimed.flatMap(({ keywordId }) => (keywordId === '' ? [] : [keywordId]))),
      this.targets.endpoints(claimed),
    ]);
    for (const one of claimed) {
      const channel = channels.get(channelIdIn(one.endpoint) ?? '');
      const keyword = keywords.get(one.keywordId);
      const endpoint = endpoints.get(addressKey(one));
      const reason = skipReasonOf(one, channel, keyword);
      if (reason !== undefined || !channel || !endpoint)
        claims.givenUp.push({
          ...givenUp(one, reason ?? 'not sent: the account does not exist any more'),
          channelKind: channel?.kind,
        });
      else
        (this.pace.take(one.endpoint, channel.kind, Date.now()) ? claims.ready : claims.paced).push({
          ...one,
          channelKind: channel.kind,
          signing: endpoint.signing,
          failingSince: endpoint.failingSince,
          destination: {
            channel,
            keywordName: keyword?.name ?? '',
            disabledName: channels.get(disabledIn(one.body))?.name,
            timezone: keyword?.timezone ?? 'UTC',
          },
        });
    }
  }
}

/** Finds which claimed deliveries to addresses (webhooks, resends, replays) can be sent, and where. */
export async function resolveClaims(
  database: Database,
  targets: Targets,
  claimed: readonly ClaimedDelivery[],
): Promise<Claims> {
  const claims: Claims = { ready: [], paced: [], moved: [], givenUp: [] };
  if (claimed.length === 0) return claims;
  const ofWebhooks = claimed.filter(({ target }) => target.kind === 'webhook');
  const named = claimed.filter(({ target }) => target.kind !== 'webhook');
  const webhooks =
    ofWebhooks.length > 0 ? await targets.webhooksOf(ofWebhooks.map(({ watchId }) => watchId)) : new Map();
  for (const one of ofWebhooks) {
    const webhook = webhooks.get(one.watchId);
    if (!webhook) claims.givenUp.push(givenUp(one, 'not sent: the watch or keyword has no webhook any more'));
    else if (webhook.endpoint === one.endpoint) addUnlessDisabled(claims, one, webhook);
    else {
      claims.givenUp.push(
        givenUp(one, 'not sent: the webhook URL was changed, and the event is sent to the new URL'),
      );
      claims.moved.push({
        ...one,
        endpoint: webhook.endpoint,
        target: webhook.target,
        attempts: 0,
        firstAt: Date.now(),
      });
    }
  }
  const [endpoints, running] = await Promise.all([targets.endpoints(named), runningOf(database, named)]);
  for (const one of named) {
    const endpoint = endpoints.get(addressKey(one));
    if (!endpoint) claims.givenUp.push(givenUp(one, 'not sent: the account does not exist any more'));
    else if (one.target.kind === 'replay' && !running.has(one.target.id))
      claims.givenUp.push(givenUp(one, 'not sent: the replay has ended'));
    else addUnlessDisabled(claims, one, endpoint);
  }
  return claims;
}

function addUnlessDisabled(
  claims: Claims,
  one: ClaimedDelivery,
  { signing, failingSince, disabledReason }: Endpoint,
): void {
  if (disabledReason !== undefined) claims.givenUp.push(givenUp(one, DISABLED));
  else claims.ready.push({ ...one, signing, failingSince });
}

function givenUp(one: Addressed, reason: string): GivenUp {
  return { ...one, reason };
}

/** Returns the ids of the targets that are replays and have not ended. */
async function runningOf(database: Database, claimed: readonly Addressed[]): Promise<ReadonlySet<string>> {
  const ids = claimed.flatMap(({ target }) => (target.kind === 'replay' ? [target.id] : []));
  if (ids.length === 0) return new Set();
  const rows: { replay_id: string }[] = await database.query(
    `SELECT replay_id FROM replays WHERE replay_id = ANY($1) AND status IN ('queued', 'running')`,
    [[...new Set(ids)]],
  );
  return new Set(rows.map(({ replay_id }) => replay_id));
}
