import type { Channel, ChannelKind } from '../channels/channel.js';
import type { Signing } from './signature.js';

/**
 * The kinds of targets. `webhook`: the address of the watch or keyword. `resend`: an address to which a user sends one
 * event again. `replay`: the address of a replay. `channel`: a channel. `digest`: a channel that gets a digest.
 * `verification`: an email address whose owner is asked for consent.
 */
export type TargetKind = 'webhook' | 'resend' | 'replay' | 'channel' | 'digest' | 'verification';

/** The target of a delivery. Each target of an event has its own attempts and retries. */
export interface Target {
  kind: TargetKind;
  /**
   * A UUID: `endpointIdOf` for a webhook address, `addressTargetId` for an email address, otherwise the id of the
   * resend, replay or channel.
   */
  id: string;
}

/** The place of an event in the stream EVENTS. */
export interface Place {
  /** When the stream stored the event, in ms. */
  storedAt: number;
  seq: number;
}

/** Identifies a delivery. */
export interface DeliveryKey {
  eventId: string;
  target: Target;
}

/** The recorded part of a delivery. */
export interface Addressed extends DeliveryKey {
  accountId: string;
  watchId: string;
  /** Empty for a watch without a keyword. */
  keywordId: string;
  source: string;
  /** The address of the target; for a channel, `channelEndpoint`. */
  endpoint: string;
  /** Present only if the target is a channel that still exists. */
  channelKind?: ChannelKind | undefined;
  /**
   * When the delivery was created, in ms. The first attempt is made at this time, or later if the delivery has to wait.
   */
  firstAt: number;
  /** Present only for the message of an event to a channel. Waiting messages of a channel are sent in this order. */
  place?: Place | undefined;
  /** True while `pending_deliveries` has a row for this delivery. */
  pending: boolean;
  /**
   * Trace context (`traceparent`) of the message or command that caused the delivery. All attempts of the delivery
   * continue this trace. Absent if there is no trace.
   */
  cause?: string | undefined;
}

/** The delivery of one event to one target. */
export interface Delivery extends Addressed {
  /** The envelope's bytes, exactly as stored. */
  body: Uint8Array;
  signing: Signing;
  /** Number of earlier attempts. */
  attempts: number;
  failingSince: number | undefined;
  /** Present only if the target is a channel. */
  destination?: Destination;
}

/** The channel of a delivery, and the other data that its message needs. */
export interface Destination {
  channel: Channel;
  keywordName: string;
  /** The name of the channel that an event `channel.disabled` is about; undefined for other events. */
  disabledName: string | undefined;
  /** IANA zone of the account. */
  timezone: string;
}

/** A delivery that is given up, and why. */
export interface GivenUp extends Addressed {
  reason: string;
}

/** The result of one attempt. */
export interface AttemptResult {
  delivery: Delivery;
  /** In ms since the epoch. */
  at: number;
  durationMs: number;
  /** 0 if no response arrived. */
  statusCode: number;
  delivered: boolean;
  message: string;
  /**
   * How long the destination of a channel accepts no messages, in ms (`retryAfterMsOf`). Absent if no such time
   * is known.
   */
  retryAfterMs?: number | undefined;
  /** Why the destination of a channel no longer exists; absent if the destination exists. */
  gone?: string;
  /** The email address that is gone; absent if the whole channel is gone. */
  goneAddress?: string;
}

/**
 * Called exactly once for each delivery: with the attempt, with undefined if no attempt was made, or with an error if
 * the attempt threw. The call can come before `EndpointQueues.submit` has returned.
 */
export type AttemptCallback = (error: unknown, result?: AttemptResult) => void;

/** Returns a unique text for each delivery, for sets and maps. */
export function keyOf({ eventId, target }: DeliveryKey): string {
  return `${eventId} ${target.kind} ${target.id}`;
}
