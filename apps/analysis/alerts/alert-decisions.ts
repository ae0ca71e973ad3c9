import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AlertDecisionSchema, type AlertDecision, type AlertEvent } from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { newId } from '#kernel';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { decide, evolve, NO_ALERTS, type AlertCommand, type AlertsState } from '../domain/alert.js';
import { alertsProjection } from '../projections/alerts.projection.js';

const alerts: Aggregate<AlertsState, AlertEvent, AlertDecision> = {
  stream: 'ALERTS',
  initial: NO_ALERTS,
  evolve,
  decode: (data) => fromBinary(AlertDecisionSchema, data),
  encode: (decision) => toBinary(AlertDecisionSchema, decision),
};

/**
 * Appends decisions about the alerts of a keyword to ALERTS. If another replica has appended a decision meanwhile, this
 * decision is made again. Appends nothing for a retired or purged keyword.
 */
@Injectable()
export class AlertDecisions {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  async record(keyword: { accountId: string; keywordId: string }, command: AlertCommand): Promise<void> {
    const commandId = newId();
    await execute(this.database, this.store, {
      aggregate: alerts,
      projection: alertsProjection,
      accountId: keyword.accountId,
      subjectTokens: [keyword.keywordId],
      commandId,
      // A purge first retires the keyword, under the account's lock. So either this query finds no keyword, or the purge
      // also deletes this decision.
      read: (tx) =>
        tx.query(`SELECT 1 FROM keywords WHERE keyword_id = $1 AND state <> 'retired'`, [keyword.keywordId]),
      decide: (state, _, found: unknown[]) => (found.length > 0 ? decide(command, state) : []),
      decisionOf: (events) =>
        create(AlertDecisionSchema, { commandId, ...keyword, decidedAt: command.at, events }),
    });
  }
}
