import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  KeywordEventSchema,
  type AgentStep,
  type KeywordDefinition,
  type KeywordEvent,
  type Watch,
} from '#contracts';
import { Refusal } from '#kernel';

/** One subject of KEYWORDS: nothing yet, a keyword, or a watch that no keyword owns. */
export type KeywordState =
  | { status: 'none' }
  | { status: 'keyword-active'; definition: KeywordDefinition; watches: readonly Watch[] }
  | { status: 'keyword-retired'; watches: readonly Watch[] }
  | { status: 'watch'; watch: Watch; isActive: boolean; webhookUrl: string }
  | { status: 'watch-retired' };

export const nothingYet: KeywordState = { status: 'none' };

/** What can be asked. Ids and planned watches come with the command. */
export type KeywordCommand =
  | { kind: 'create-keyword'; definition: KeywordDefinition; watches: readonly Watch[] }
  | { kind: 'retire-keyword' }
  | {
      kind: 'create-watch';
      watch: Watch;
      webhookUrl: string | undefined;
      ai: AgentStep | undefined;
      analysis: boolean;
      /** True when the account has an active watch on the same search, a keyword's or a lone one. */
      collides: boolean;
    }
  | {
      kind: 'change-watch';
      intervalSeconds: number | undefined;
      /** Empty: cleared. */
      webhookUrl: string | undefined;
      isActive: boolean | undefined;
      collides: boolean;
    }
  | { kind: 'retire-watch' };

/** @throws Refusal: 404 for what is not there, 409 for what is there twice */
export function decide(command: KeywordCommand, state: KeywordState): KeywordEvent[] {
  switch (command.kind) {
    case 'create-keyword':
      if (state.status !== 'none') throw Refusal.conflict('the keyword exists already');
      refuseTwins(command.watches);
      return [
        event({
          case: 'keywordCreated',
          value: { definition: command.definition, watches: [...command.watches] },
        }),
      ];
    case 'retire-keyword':
      if (state.status === 'keyword-retired') return [];
      if (state.status !== 'keyword-active') throw Refusal.notFound('keyword');
      return [event({ case: 'keywordRetired', value: {} })];
    case 'create-watch': {
      if (state.status !== 'none') throw Refusal.conflict('the watch exists already');
      if (command.collides) throw sameSearch();
      const { watch, webhookUrl, ai, analysis } = command;
      return [event({ case: 'watchCreated', value: { watch, webhookUrl, ai, analysis } })];
    }
    case 'change-watch':
      return changeWatch(command, state);
    case 'retire-watch':
      if (state.status === 'watch-retired') return [];
      if (state.status !== 'watch') throw Refusal.notFound('watch');
      return [event({ case: 'watchRetired', value: {} })];
  }
}

/** The subject after the event. */
export function evolve(state: KeywordState, { event }: KeywordEvent): KeywordState {
  switch (event.case) {
    case 'keywordCreated':
      return event.value.definition
        ? { status: 'keyword-active', definition: event.value.definition, watches: event.value.watches }
        : state;
    case 'keywordRetired':
      return state.status === 'keyword-active'
        ? { status: 'keyword-retired', watches: state.watches }
        : state;
    case 'watchCreated':
      return event.value.watch
        ? {
            status: 'watch',
            watch: event.value.watch,
            isActive: true,
            webhookUrl: event.value.webhookUrl ?? '',
          }
        : state;
    case 'watchChanged': {
      if (state.status !== 'watch') return state;
      const { intervalSeconds = state.watch.intervalSeconds, webhookUrl, isActive } = event.value;
      return {
        ...state,
        watch: { ...state.watch, intervalSeconds },
        webhookUrl: webhookUrl ?? state.webhookUrl,
        isActive: isActive ?? state.isActive,
      };
    }
    case 'watchRetired':
      return { status: 'watch-retired' };
    case 'keywordChanged':
    case 'keywordPaused':
    case 'keywordResumed':
    case 'watchPaused':
    case 'watchResumed':
    case undefined:
      return state;
  }
}

function changeWatch(
  { intervalSeconds, webhookUrl, isActive, collides }: Extract<KeywordCommand, { kind: 'change-watch' }>,
  state: KeywordState,
): KeywordEvent[] {
  if (state.status !== 'watch') throw Refusal.notFound('watch');
  const changes = {
    ...(intervalSeconds !== undefined && intervalSeconds !== state.watch.intervalSeconds
      ? { intervalSeconds }
      : {}),
    ...(webhookUrl !== undefined && webhookUrl !== state.webhookUrl ? { webhookUrl } : {}),
    ...(isActive !== undefined && isActive !== state.isActive ? { isActive } : {}),
  };
  if (Object.keys(changes).length === 0) return [];
  if (changes.isActive && collides) throw sameSearch();
  return [event({ case: 'watchChanged', value: changes })];
}

function refuseTwins(watches: readonly Watch[]): void {
  const seen = new Map<string, Watch>();
  for (const watch of watches) {
    const twin = seen.get(watch.criteriaHash);
    if (twin)
      throw new Refusal(
        409,
        'DUPLICATE_SEARCH',
        `the keyword holds the same search on ${watch.source} twice`,
        [{ path: 'sources', message: `two searches on ${watch.source} have the same criteria` }],
      );
    seen.set(watch.criteriaHash, watch);
  }
}

function sameSearch(): Refusal {
  return new Refusal(409, 'DUPLICATE_SEARCH', 'an active watch of this account has the same search');
}

function event(init: MessageInitShape<typeof KeywordEventSchema>['event']): KeywordEvent {
  return create(KeywordEventSchema, { event: init });
}
