import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { KeywordEventSchema, type KeywordEvent, type Watch } from '#contracts';
import { Refusal } from '#kernel';
import type { KeywordCommand, PauseCommand, ResumeCommand, DuplicateWatch } from './keyword-command.js';
import { evolve, RETIRED, type KeywordState } from './keyword-state.js';

/**
 * Adds a reason for a pause. A reason that already applies changes nothing.
 * @throws Refusal `not-found`, or `conflict` for a retired keyword
 */
export function pause(command: PauseCommand, state: KeywordState): KeywordEvent[] {
  const { pauses } = requireAlive(state);
  const { reason, creditsRemaining, creditsNeeded } = command;
  if (pauses.reasons.includes(reason)) return [];
  const value = { reason, stopped: pauses.reasons.length === 0, creditsRemaining, creditsNeeded };
  return [
    event(state.status === 'keyword' ? { case: 'keywordPaused', value } : { case: 'watchPaused', value }),
  ];
}

/**
 * Removes reasons for a pause. Reasons that do not apply change nothing.
 * @throws Refusal `not-found`, or `conflict` for a retired keyword
 */
export function resume({ reasons, creditsRemaining }: ResumeCommand, state: KeywordState): KeywordEvent[] {
  const { pauses } = requireAlive(state);
  const removed = pauses.reasons.filter((reason) => reasons.includes(reason));
  return removed.map((reason, index) => {
    const running = index === removed.length - 1 && removed.length === pauses.reasons.length;
    const value = { reason, running, creditsRemaining };
    return event(
      state.status === 'keyword' ? { case: 'keywordResumed', value } : { case: 'watchResumed', value },
    );
  });
}

/**
 * After a change of a keyword that is paused for lack of credits, computes again how many credits the keyword needs:
 * the highest price of a first check. A watch that continues counts with at most the credits that were needed before
 * the change. If the account has the needed credits, removes this reason of the pause.
 * @param watches the watches after the change
 * @throws Refusal like `pause`
 */
export function updateCreditsNeeded(
  watches: readonly Watch[],
  creditsRemaining: number,
  state: KeywordState,
): KeywordEvent[] {
  const { pauses } = requireAlive(state);
  const reason = 'insufficient_credits';
  if (!pauses.reasons.includes(reason)) return [];
  const continues = new Set(state.status === 'keyword' ? state.watches.map(({ watchId }) => watchId) : []);
  const needs = watches
    .filter(({ disabled }) => !disabled)
    .map(({ watchId, firstScanCredits, creditsPerCheck }) => {
      const price = firstScanCredits || creditsPerCheck;
      return continues.has(watchId) ? Math.min(price, pauses.creditsNeeded) : price;
    });
  const creditsNeeded = Math.max(0, ...needs);
  if (creditsNeeded <= creditsRemaining)
    return resume({ kind: 'resume', reasons: [reason], creditsRemaining }, state);
  const value = { reason, stopped: false, creditsRemaining, creditsNeeded };
  return creditsNeeded === pauses.creditsNeeded ? [] : [event({ case: 'keywordPaused', value })];
}

/**
 * Changes a watch without a keyword. Values that equal the current values change nothing. `isActive: true` also removes
 * the reasons `plan` and `insufficient_credits` of a pause.
 * @param refusal makes the refusal for a watch that would run at the same time as another watch with the same search
 * @throws Refusal `not-found`, or the `refusal`
 */
export function changeWatch(
  command: Extract<KeywordCommand, { kind: 'change-watch' }>,
  state: KeywordState,
  refusal: (duplicate: DuplicateWatch) => Refusal,
): KeywordEvent[] {
  const { intervalSeconds, webhookUrl, isActive, duplicate, creditsRemaining } = command;
  if (state.status !== 'watch') throw Refusal.notFound('watch');
  const isPausedByUser = state.pauses.reasons.includes('user');
  const changes = {
    ...(intervalSeconds !== undefined && intervalSeconds !== state.watch.intervalSeconds
      ? { intervalSeconds }
      : {}),
    ...(webhookUrl !== undefined && webhookUrl !== state.webhookUrl ? { webhookUrl } : {}),
    ...(isActive !== undefined && isActive === isPausedByUser ? { isActive } : {}),
  };
  const changed = Object.keys(changes).length === 0 ? [] : [event({ case: 'watchChanged', value: changes })];
  const reasons = ['plan', 'insufficient_credits'] as const;
  const resumed = isActive
    ? resume({ kind: 'resume', reasons, creditsRemaining }, changed.reduce(evolve, state))
    : [];
  if (duplicate && (changes.isActive || resumed.length > 0)) throw refusal(duplicate);
  return [...changed, ...resumed];
}

function requireAlive(state: KeywordState) {
  if (state.status === 'keyword' || state.status === 'watch') return state;
  if (state.status === 'keyword-retired') throw Refusal.conflict(RETIRED);
  throw Refusal.notFound(state.status === 'watch-retired' ? 'watch' : 'keyword');
}

function event(init: MessageInitShape<typeof KeywordEventSchema>['event']): KeywordEvent {
  return create(KeywordEventSchema, { event: init });
}
