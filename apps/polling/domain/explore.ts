import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ExploreEventSchema, type ExploreEvent, type Item } from '#contracts';
import { Refusal } from '#kernel';

/** The state of one Explore: which of its sources have answered or failed. */
export interface ExploreState {
  /** Empty before the Explore is requested. */
  sources: ReadonlyMap<string, 'open' | 'answered' | 'failed'>;
}

export type ExploreCommand =
  | {
      kind: 'request';
      question: string;
      market: string;
      /** Maximum number of items of one source. */
      limit: number;
      sources: readonly string[];
      /** The source is asked for any of these terms; empty: for the question. */
      terms: readonly string[];
      /** Only for rss. */
      feedUrls: readonly string[];
      creditsQuoted: number;
      priceBookVersion: string;
      /** Number of running Explores of the account. */
      running: number;
    }
  | { kind: 'find'; source: string; requestedAt: string; items: readonly Item[] }
  | {
      kind: 'answer';
      source: string;
      items: number;
      costCredits: number;
      priceBookVersion: string;
      warnings: readonly string[];
    }
  | { kind: 'fail'; source: string; reason: string };

export const NO_EXPLORE: ExploreState = { sources: new Map() };

/** Maximum number of Explores of one account that run at the same time. */
export const MAX_RUNNING = 5;

/**
 * Returns the events that a command causes. A repeated request causes none. A command about a source that has already
 * answered or failed also causes none.
 * @throws Refusal `conflict` if too many Explores run, `not-found` if there is no such Explore
 */
export function decide(command: ExploreCommand, { sources }: ExploreState): ExploreEvent[] {
  if (command.kind === 'request') {
    if (sources.size > 0) return [];
    const { question, market, limit, creditsQuoted, priceBookVersion, running } = command;
    if (running >= MAX_RUNNING)
      throw Refusal.conflict(`${MAX_RUNNING} Explores of this account are running; wait until one has ended`);
    return [
      event({
        case: 'requested',
        value: {
          ...{ question, market, limit, creditsQuoted, priceBookVersion },
          ...{ sources: [...command.sources], terms: [...command.terms], feedUrls: [...command.feedUrls] },
        },
      }),
    ];
  }
  if (sources.size === 0) throw Refusal.notFound('explore');
  // Only the first result of a source counts. After a crash, another replica can have asked the source again.
  if (sources.get(command.source) !== 'open') return [];
  switch (command.kind) {
    case 'find':
      return [
        event({
          case: 'itemsFound',
          value: { source: command.source, requestedAt: command.requestedAt, items: [...command.items] },
        }),
      ];
    case 'answer': {
      const { source, items, costCredits, priceBookVersion, warnings } = command;
      const value = { source, items, costCredits, priceBookVersion, warnings: [...warnings] };
      return [event({ case: 'sourceAnswered', value })];
    }
    case 'fail':
      return [event({ case: 'sourceFailed', value: { source: command.source, reason: command.reason } })];
  }
}

export function evolve(state: ExploreState, { event: { case: kind, value } }: ExploreEvent): ExploreState {
  switch (kind) {
    case 'requested':
      return { sources: new Map(value.sources.map((source) => [source, 'open'])) };
    case 'sourceAnswered':
      return { sources: new Map(state.sources).set(value.source, 'answered') };
    case 'sourceFailed':
      return { sources: new Map(state.sources).set(value.source, 'failed') };
    case 'itemsFound':
    case undefined:
      return state;
  }
}

function event(init: MessageInitShape<typeof ExploreEventSchema>['event']): ExploreEvent {
  return create(ExploreEventSchema, { event: init });
}
