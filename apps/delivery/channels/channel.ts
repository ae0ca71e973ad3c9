import type { ChannelKind } from '#contracts';

export type { ChannelKind };

/** The data of a channel that a delivery needs. */
export type Channel = {
  channelId: string;
  accountId: string;
  name: string;
  state: 'active' | 'unverified' | 'disabled';
  disabledReason: string | undefined;
  /** The `configVersion` of the channel's config. */
  version: string;
} & ChannelAddress;

/** The part of the config that is the destination of the message. */
export type ChannelAddress =
  | { kind: 'email'; addresses: readonly EmailAddress[] }
  | { kind: 'slack' | 'discord' | 'teams'; webhookUrl: string }
  | { kind: 'telegram'; botToken: string; chatId: string }
  | { kind: 'webhook'; url: string };

/** An address of an email channel. */
export interface EmailAddress {
  address: string;
  /** Id of the delivery's target. */
  targetId: string;
  state: 'unverified' | 'verified' | 'unsubscribed' | 'refused';
}

/**
 * Returns the endpoint of all deliveries to a channel. These deliveries share the endpoint's queue, its rate limit and
 * its record of failures.
 */
export function channelEndpoint(channelId: string): string {
  return `${PREFIX}${channelId}`;
}

/** Returns the id of the channel of an endpoint; undefined for the endpoint of a webhook. */
export function channelIdIn(endpoint: string): string | undefined {
  return endpoint.startsWith(PREFIX) ? endpoint.slice(PREFIX.length) : undefined;
}

const PREFIX = 'channel:';
