import type { Signing } from './signature.js';

/**
 * What an event can be sent to. `webhook`: the address that its watch or keyword names. `resend`: an address to which a
 * user sends one event again. `replay`: the address of a replay.
 */
export type TargetKind = 'webhook' | 'resend' | 'replay';

/** The target of a delivery. Each target of an event has its own attempts and retries. */
export interface Target {
  kind: TargetKind;
  /** UUID; of a webhook address `endpointIdOf`, of a resend or a replay its own id. */
  id: string;
}

/** What tells deliveries apart. */
export interface DeliveryKey {
  eventId: string;
  target: Target;
}

/** A delivery as records name it. */
export interface Addressed extends DeliveryKey {
  accountId: string;
  watchId: string;
  /** Empty for a watch that no keyword owns. */
  keywordId: string;
  source: string;
  /** The address of the target. */
  endpoint: string;
  /** When the first attempt was, or would have been, in ms. */
  firstAt: number;
  /** True while `pending_deliveries` has a row of it. */
  pending: boolean;
  /** `traceparent` of the step that its attempts follow from, the first and those made later; absent: of none. */
  cause?: string | undefined;
}

/** One event on its way to one target. */
export interface Delivery extends Addressed {
  /** The envelope's bytes, exactly as stored. */
  body: Uint8Array;
  signing: Signing;
  /** Attempts made before. */
  attempts: number;
  failingSince: number | undefined;
}

/** A delivery of which nothing more is sent, and why. */
export interface GivenUp extends Addressed {
  reason: string;
}

/** How one attempt came out. */
export interface AttemptResult {
  delivery: Delivery;
  /** In ms since the epoch. */
  at: number;
  durationMs: number;
  /** 0 when no answer came. */
  statusCode: number;
  delivered: boolean;
  message: string;
}

/**
 * Called once for a delivery: with the attempt, with nothing when none was made, or with an error when it broke. Possibly
 * before the call that it was given to returns.
 */
export type AttemptCallback = (error: unknown, result?: AttemptResult) => void;

/** One text for each delivery, for sets and maps. */
export function keyOf({ eventId, target }: DeliveryKey): string {
  return `${eventId} ${target.kind} ${target.id}`;
}
