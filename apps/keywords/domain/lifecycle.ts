import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { KeywordEventSchema, type KeywordEvent } from '#contracts';
import { Refusal } from '#kernel';
import type { KeywordCommand, KeywordState } from './keyword.js';
import type { PauseReason } from './pauses.js';

/** Adds a reason to rest. */
export interface PauseCommand {
  kind: 'pause';
  reason: PauseReason;
  /** The account's. */
  creditsRemaining: number;
  /** With `insufficient_credits`: what the check needed. */
  creditsNeeded: number;
}

/** Takes reasons to rest away. */
export interface ResumeCommand {
  kind: 'resume';
  reasons: readonly PauseReason[];
  creditsRemaining: number;
}

/** A reason that holds already changes nothing. @throws Refusal 404, or 409 for what is retired */
export function pause(command: PauseCommand, state: KeywordState): KeywordEvent[] {
  const { pauses } = requireAlive(state);
  const { reason, creditsRemaining, creditsNeeded } = command;
  if (pauses.reasons.includes(reason)) return [];
  const value = { reason, stopped: pauses.reasons.length === 0, creditsRemaining, creditsNeeded };
  return [
    event(state.status === 'keyword' ? { case: 'keywordPaused', value } : { case: 'watchPaused', value }),
  ];
}

/** Reasons that do not hold change nothing. @throws Refusal 404, or 409 for what is retired */
export function resume({ reasons, creditsRemaining }: ResumeCommand, state: KeywordState): KeywordEvent[] {
  const { pauses } = requireAlive(state);
  const gone = pauses.reasons.filter((reason) => reasons.includes(reason));
  return gone.map((reason, index) => {
    const running = index === gone.length - 1 && gone.length === pauses.reasons.length;
    const value = { reason, running, creditsRemaining };
    return event(
      state.status === 'keyword' ? { case: 'keywordResumed', value } : { case: 'watchResumed', value },
    );
  });
}

/**
 * Changes a lone watch; what is as it is already changes nothing.
 * @param refusal of a watch that would run beside another on the same search
 */
export function changeWatch(
  { intervalSeconds, webhookUrl, isActive, collides }: Extract<KeywordCommand, { kind: 'change-watch' }>,
  state: KeywordState,
  refusal: () => Refusal,
): KeywordEvent[] {
  if (state.status !== 'watch') throw Refusal.notFound('watch');
  const isPausedByUser = state.pauses.reasons.includes('user');
  const changes = {
    ...(intervalSeconds !== undefined && intervalSeconds !== state.watch.intervalSeconds
      ? { intervalSeconds }
      : {}),
    ...(webhookUrl !== undefined && webhookUrl !== state.webhookUrl ? { webhookUrl } : {}),
    ...(isActive !== undefined && isActive === isPausedByUser ? { isActive } : {}),
  };
  if (changes.isActive && collides) throw refusal();
  return Object.keys(changes).length === 0 ? [] : [event({ case: 'watchChanged', value: changes })];
}

function requireAlive(state: KeywordState) {
  if (state.status === 'keyword' || state.status === 'watch') return state;
  if (state.status === 'keyword-retired') throw Refusal.conflict('the keyword is retired');
  throw Refusal.notFound(state.status === 'watch-retired' ? 'watch' : 'keyword');
}

function event(init: MessageInitShape<typeof KeywordEventSchema>['event']): KeywordEvent {
  return create(KeywordEventSchema, { event: init });
}
