import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { AccountDecisionSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { done, retry, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import { lockAccount, type Database } from '#postgres';
import { ACCOUNTS_PROJECTION, positionOf } from '#projections';
import { causeOf, continueTrace } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { PlanEnforcement } from '../planning/plan-enforcement.js';

const RETRY_MS = 200;

/**
 * Applies changes of plans: pauses the keywords and watches that exceed the new plan, and resumes keywords and watches
 * if a larger plan allows them. The oldest keywords and watches use the plan first.
 */
@Controller()
export class PlanHandler {
  constructor(
    private readonly enforcement: PlanEnforcement,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern({ stream: 'ACCOUNTS', name: 'keywords-plans', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const message of batch)
      outcomes.push(await continueTrace(causeOf(message), () => this.handleOne(message)));
    return outcomes;
  }

  private async handleOne({ data, subject, seq }: JsMsg): Promise<Outcome> {
    const { accountId, commandId, events } = fromBinary(AccountDecisionSchema, data);
    if (!events.some(({ event }) => event.case === 'planChanged')) return done;
    if (await this.isBehind(accountId, subject, seq)) return retry(RETRY_MS);
    await this.enforcement.enforce(accountId, commandId);
    return done;
  }

  /**
   * Returns whether the change is missing in the tables. After a crash between append and projection, the tables
   * contain the old plan, and the enforcement would find nothing to do.
   */
  private async isBehind(accountId: string, subject: string, seq: number): Promise<boolean> {
    // The service that changes the plan holds this lock until its tables show the change.
    const position = await this.database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      return positionOf(tx, { name: ACCOUNTS_PROJECTION }, subject);
    });
    // If the stream no longer contains the message, the tables will never show the change.
    return position < seq && (await this.store.lastSeq('ACCOUNTS', subject)) >= seq;
  }
}
