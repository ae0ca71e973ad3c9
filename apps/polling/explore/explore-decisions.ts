import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ExploreDecisionSchema, type ExploreDecision, type ExploreEvent } from '#contracts';
import { execute, readState, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, systemClock } from '#kernel';
import type { Database, Tx } from '#postgres';
import { decide, evolve, NO_EXPLORE, type ExploreCommand, type ExploreState } from '../domain/explore.js';
import { exploresProjection } from '../projections/explores.projection.js';

const explores: Aggregate<ExploreState, ExploreEvent, ExploreDecision> = {
  stream: 'EXPLORES',
  initial: NO_EXPLORE,
  evolve,
  decode: (data) => fromBinary(ExploreDecisionSchema, data),
  encode: (decision) => toBinary(ExploreDecisionSchema, decision),
};

/** Decides about Explores, and stores the decisions. */
export class ExploreDecisions {
  constructor(
    private readonly database: Database,
    private readonly store: EventStore,
  ) {}

  /** Returns whether the Explore has been requested, also if its request is not in the tables yet. */
  async isRequested(accountId: string, exploreId: string): Promise<boolean> {
    return (await readState(this.store, explores, accountId, [exploreId])).sources.size > 0;
  }

  /**
   * Decides on the command that `commandOf` returns. A repeated call with the same `commandId` changes nothing.
   * `beginWithinMs` is that of `execute`.
   * @throws Refusal like `decide` in `domain/explore.ts`, and like `execute`
   */
  async decide(
    {
      accountId,
      exploreId,
      commandId,
      beginWithinMs,
    }: { accountId: string; exploreId: string; commandId: string; beginWithinMs?: number },
    commandOf: (tx: Tx) => ExploreCommand | Promise<ExploreCommand>,
  ): Promise<void> {
    await execute(this.database, this.store, {
      aggregate: explores,
      projection: exploresProjection,
      accountId,
      subjectTokens: [exploreId],
      commandId,
      beginWithinMs,
      decide: async (state, tx) => decide(await commandOf(tx), state),
      decisionOf: (events) =>
        create(ExploreDecisionSchema, {
          commandId,
          accountId,
          exploreId,
          decidedAt: isoOf(systemClock.now()),
          events,
        }),
    });
  }
}
