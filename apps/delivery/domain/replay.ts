import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ReplayEventSchema, type ReplayEvent } from '#contracts';
import { Refusal, type Fault } from '#kernel';

/** How a replay can end. `failed`: its endpoint is disabled, or does not exist any more. */
export type ReplayEnd = 'done' | 'failed' | 'cancelled';

/** The state of one replay, which sends stored events again. */
export type ReplayState =
  | { status: 'none' }
  | { status: 'queued' }
  | { status: 'running'; matched: number }
  | { status: ReplayEnd; counts: ReplayCounts };

/** How many events of a replay have each result, up to now. */
export interface ReplayCounts {
  /** Events that the receiver accepted. */
  sent: number;
  /** Events that were given up. */
  failed: number;
  /** Events that are in the index, but not in the stream. */
  missing: number;
}

/** The request for a replay. Times are ISO 8601 UTC. */
export interface ReplayRequest {
  /** Exactly one of `keywordId` and `watchId` is not empty. */
  keywordId: string;
  watchId: string;
  since: string;
  /** Exclusive. */
  until: string;
  url: string;
  /** Empty: all types of events about items, and the types in the keyword's `webhookEvents`. */
  types: readonly string[];
  ratePerSecond: number;
  /** The last sequence of EVENTS at the time of the request. */
  upToSequence: number;
}

/** A command on one replay. */
export type ReplayCommand =
  | {
      kind: 'request';
      request: ReplayRequest;
      /** Number of replays of the account that have not ended. */
      open: number;
    }
  | { kind: 'start'; matched: number }
  | { kind: 'end'; status: ReplayEnd; message: string; counts: ReplayCounts };

/** Maximum number of open replays of one account. */
export const OPEN_REPLAYS = 5;
/** The state before a replay is requested. */
export const NO_REPLAY: ReplayState = { status: 'none' };

/**
 * Returns the events of a command.
 * @throws Refusal `not-found` if the replay does not exist, `conflict` if it already exists or the account has too many
 *   open replays, `invalid` for a bad request
 */
export function decide(command: ReplayCommand, state: ReplayState): ReplayEvent[] {
  switch (command.kind) {
    case 'request':
      if (state.status !== 'none') throw Refusal.conflict('the replay already exists');
      return [requested(command.request, command.open)];
    case 'start':
      return requireOne(state).status === 'queued'
        ? [event({ case: 'started', value: { matched: command.matched } })]
        : [];
    case 'end': {
      if (hasEnded(requireOne(state))) return [];
      const { status, message, counts } = command;
      return [event({ case: 'ended', value: { status, message, ...counts } })];
    }
  }
}

/** Returns the state after the event. */
export function evolve(state: ReplayState, { event }: ReplayEvent): ReplayState {
  switch (event.case) {
    case 'requested':
      return { status: 'queued' };
    case 'started':
      return { status: 'running', matched: event.value.matched };
    case 'ended': {
      const { status, sent, failed, missing } = event.value;
      return { status: status as ReplayEnd, counts: { sent, failed, missing } };
    }
    case undefined:
      return state;
  }
}

/** Returns true if the replay has ended. */
export function hasEnded({ status }: ReplayState): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

function requireOne(state: ReplayState): ReplayState {
  if (state.status === 'none') throw Refusal.notFound('replay');
  return state;
}

function requested(request: ReplayRequest, open: number): ReplayEvent {
  const { keywordId, watchId, since, until } = request;
  const faults: Fault[] = [];
  if ((keywordId === '') === (watchId === ''))
    faults.push({ path: 'keyword_id', message: 'name either keyword_id or watch_id' });
  if (!(Date.parse(since) < Date.parse(until)))
    faults.push({ path: 'since', message: 'must be earlier than until, whose default is now' });
  if (faults.length > 0) throw Refusal.validation(faults);
  if (open >= OPEN_REPLAYS)
    throw Refusal.conflict(
      `${OPEN_REPLAYS} replays of this account have not ended; cancel one, or wait until one has ended`,
    );
  return event({
    case: 'requested',
    value: { ...request, types: [...request.types], upToSequence: BigInt(request.upToSequence) },
  });
}

function event(init: MessageInitShape<typeof ReplayEventSchema>['event']): ReplayEvent {
  return create(ReplayEventSchema, { event: init });
}
