import { create, equals, type MessageInitShape } from '@bufbuild/protobuf';
import {
  KeywordDefinitionSchema,
  KeywordEventSchema,
  STALE_VERSION,
  WatchSchema,
  type KeywordEvent,
  type Watch,
} from '#contracts';
import { Refusal } from '#kernel';
import type { KeywordCommand, PauseCommand, DuplicateWatch } from './keyword-command.js';
import { evolve, RETIRED, type KeywordState } from './keyword-state.js';
import { changeWatch, pause, updateCreditsNeeded, resume } from './lifecycle.js';

/**
 * Returns the events that a command causes.
 * @throws Refusal `not-found` if the subject does not exist; `conflict` if the subject already exists, is retired, has
 * another version than expected, or would run the same search twice. Most commands on a retired watch are refused as
 * `not-found`
 */
export function decide(command: KeywordCommand, state: KeywordState): KeywordEvent[] {
  switch (command.kind) {
    case 'create-keyword':
      return createKeyword(command, state);
    case 'change-keyword':
      return changeKeyword(command, state);
    case 'pause':
      return pause(command, state);
    case 'resume':
      return resume(command, state);
    case 'retire-keyword':
      if (state.status === 'keyword-retired') return [];
      if (state.status !== 'keyword') throw Refusal.notFound('keyword');
      return [event({ case: 'keywordRetired', value: {} })];
    // A retired keyword also accepts `rotate-feed`, because its feed stays readable.
    case 'rotate-feed':
      if (state.status !== 'keyword' && state.status !== 'keyword-retired') throw Refusal.notFound('keyword');
      return [event({ case: 'feedRotated', value: { feedKey: command.feedKey } })];
    case 'create-watch': {
      if (state.status !== 'none') throw Refusal.conflict('the watch already exists');
      if (command.duplicate) throw sameSearch(command.duplicate, 'criteria');
      const { watch, webhookUrl, ai, analysis } = command;
      return [event({ case: 'watchCreated', value: { watch, webhookUrl, ai, analysis } })];
    }
    case 'change-watch':
      return changeWatch(command, state, (duplicate) => sameSearch(duplicate, 'isActive'));
    case 'retire-watch':
      if (state.status === 'watch-retired') return [];
      if (state.status !== 'watch') throw Refusal.notFound('watch');
      return [event({ case: 'watchRetired', value: {} })];
  }
}

function createKeyword(
  command: Extract<KeywordCommand, { kind: 'create-keyword' }>,
  state: KeywordState,
): KeywordEvent[] {
  if (state.status !== 'none') throw Refusal.conflict('the keyword already exists');
  const { definition, watches, scheduled, creditsRemaining } = command;
  refuseDuplicates(watches);
  const created = event({ case: 'keywordCreated', value: { definition, watches: [...watches] } });
  if (scheduled) return [created];
  const paused: PauseCommand = { kind: 'pause', reason: 'schedule', creditsRemaining, creditsNeeded: 0 };
  return [created, ...pause(paused, evolve(state, created))];
}

function changeKeyword(
  command: Extract<KeywordCommand, { kind: 'change-keyword' }>,
  state: KeywordState,
): KeywordEvent[] {
  if (state.status === 'keyword-retired') throw Refusal.conflict(RETIRED);
  if (state.status !== 'keyword') throw Refusal.notFound('keyword');
  if (command.expectedVersion !== state.version)
    throw Refusal.conflict('another request changed the keyword at the same time', STALE_VERSION);
  const { definition, searches, scheduled, creditsRemaining } = command;
  const { watches, retiredWatchIds, resets } = searches;
  refuseDuplicates(watches.filter(({ disabled }) => !disabled));
  const unchanged =
    equals(KeywordDefinitionSchema, definition, state.definition) && sameWatches(watches, state.watches);
  const value = {
    definition,
    watches,
    retiredWatchIds,
    resets,
    resting: state.pauses.reasons.length > 0,
    webhookChanged: definition.webhookUrl !== state.definition.webhookUrl,
  };
  const changed = unchanged ? [] : [event({ case: 'keywordChanged', value })];
  const priced = [...changed, ...(unchanged ? [] : updateCreditsNeeded(watches, creditsRemaining, state))];
  const after = priced.reduce(evolve, state);
  const reason = 'schedule';
  return [
    ...priced,
    ...(scheduled
      ? resume({ kind: 'resume', reasons: [reason], creditsRemaining }, after)
      : pause({ kind: 'pause', reason, creditsRemaining, creditsNeeded: 0 }, after)),
  ];
}

/** Returns whether the watches are equal, except for their prices. */
function sameWatches(now: readonly Watch[], before: readonly Watch[]): boolean {
  const byId = new Map(before.map((watch) => [watch.watchId, watch]));
  return (
    now.length === before.length &&
    now.every((watch) => {
      const same = byId.get(watch.watchId);
      if (!same) return false;
      const { creditsPerCheck, firstScanCredits, priceBookVersion } = same;
      return equals(WatchSchema, { ...watch, creditsPerCheck, firstScanCredits, priceBookVersion }, same);
    })
  );
}

function refuseDuplicates(watches: readonly Watch[]): void {
  const positions = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { source, criteriaHash } of watches) {
    const position = counts.get(source) ?? 0;
    counts.set(source, position + 1);
    const duplicate = positions.get(criteriaHash);
    if (duplicate !== undefined)
      throw new Refusal(
        'conflict',
        'DUPLICATE_SEARCH',
        `the keyword contains the same search on ${source} twice`,
        [
          {
            path: 'sources',
            message: `searches[${duplicate}] and searches[${position}] on ${source} have the same criteria; remove one of them, or change its overrides`,
          },
        ],
      );
    positions.set(criteriaHash, position);
  }
}

/**
 * Returns the refusal of a watch because another watch has the same search, and runs or can resume automatically.
 * @param path the key of the body that would start the watch
 */
function sameSearch({ watchId, keyword }: DuplicateWatch, path: 'criteria' | 'isActive'): Refusal {
  const owner = keyword ? ` of the keyword ${JSON.stringify(keyword.name)} (${keyword.id})` : '';
  const remedy = `use it, or pause or delete ${keyword ? 'the keyword' : 'it'} first`;
  const message = `the watch ${watchId}${owner} has the same search: ${remedy}`;
  return new Refusal('conflict', 'DUPLICATE_SEARCH', message, [{ path, message }]);
}

function event(init: MessageInitShape<typeof KeywordEventSchema>['event']): KeywordEvent {
  return create(KeywordEventSchema, { event: init });
}
