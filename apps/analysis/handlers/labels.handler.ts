import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { NO_ID, selectRows, type ClickHouseClient } from '#clickhouse';
import {
  DoneSchema,
  LabelDecisionSchema,
  type ChangeMention,
  type LabelDecision,
  type LabelEvent,
} from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, Refusal, systemClock } from '#kernel';
import { COMMANDS } from '#messaging';
import { CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { CommandPattern } from '#transport';
import { decide, evolve, UNLABELLED, type LabelState } from '../domain/labels.js';
import { labelsOf, labelsProjection } from '../projections/labels.projection.js';
import { knownWatches } from '../readmodels/check-sink.js';
import { writeLabels } from '../readmodels/labels.sink.js';

const labels: Aggregate<LabelState, LabelEvent, LabelDecision> = {
  stream: 'LABELS',
  initial: UNLABELLED,
  evolve,
  decode: (data) => fromBinary(LabelDecisionSchema, data),
  encode: (decision) => toBinary(LabelDecisionSchema, decision),
};

/** Executes people's decisions about mentions: labels, and corrections of the analysis. */
@Controller()
export class LabelsHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /**
   * Stores a decision, and writes the row of the mention before the reply, so that the caller then reads the changed
   * mention.
   */
  @CommandPattern(COMMANDS.changeMention)
  async change(command: ChangeMention) {
    const { accountId, mentionId, commandId } = command;
    const ownerId = await this.ownerOf(accountId, mentionId);
    await execute(this.database, this.store, {
      aggregate: labels,
      projection: labelsProjection,
      accountId,
      subjectTokens: [ownerId, mentionId],
      commandId,
      // The table keeps decisions for longer than LABELS.
      decide: async (_, tx) => {
        const [known] = await labelsOf(tx, [mentionId]);
        return decide(command, known ?? UNLABELLED);
      },
      decisionOf: (events) =>
        create(LabelDecisionSchema, {
          commandId,
          accountId,
          mentionId,
          ownerId,
          decidedAt: isoOf(systemClock.now()),
          events,
        }),
    });
    await writeLabels(this.clickhouse, this.database, [{ accountId, mentionId }]);
    return create(DoneSchema);
  }

  /**
   * Returns the id of the mention's keyword, of its watch without a keyword, or of the Explore that found it.
   * @throws Refusal `not-found` for an unknown mention, for another account's mention, and for a purged mention
   */
  private async ownerOf(accountId: string, mentionId: string): Promise<string> {
    const [row] = await selectRows<{ keyword_id: string; watch_id: string; explore_id: string }>(
      this.clickhouse,
      `SELECT keyword_id, watch_id, explore_id FROM mentions
       WHERE account_id = {accountId: UUID} AND event_id = {mentionId: UUID} LIMIT 1`,
      { accountId, mentionId },
    );
    if (row && row.explore_id !== NO_ID) return row.explore_id;
    const ownerId = row && (row.keyword_id === NO_ID ? row.watch_id : row.keyword_id);
    const known = ownerId !== undefined && (await knownWatches(this.database, [ownerId])).has(ownerId);
    if (!known) throw Refusal.notFound('mention');
    return ownerId;
  }
}
