import { create, toBinary, type JsonObject, type MessageShape } from '@bufbuild/protobuf';
import {
  creditsOfLookup,
  LookedUpSchema,
  LookupSchema,
  PRICE_BOOK_VERSION,
  type LookedUp,
  type LookUpSchema,
} from '#contracts';
import { holdUntilCharged, release, releaseCharged, reserve } from '#credits';
import type { EventStore } from '#event-store';
import { isoOf, newId, Refusal, systemClock } from '#kernel';
import { lookupCommand, subjectOf, type Bus } from '#messaging';
import type { Database } from '#postgres';
import { UpstreamError, type LookupAnswer, type UpstreamErrorKind } from '#sources';
import { metrics } from '#telemetry';
import type { NatsStrategy, Stoppable } from '#transport';
import { LaneBlocked, type Lane } from '../lanes/lane.js';
import { LookupDoor } from './lookup-door.js';
import { statedBefore } from './stated-before.js';

type Question = MessageShape<typeof LookUpSchema>;

/** Longer than anybody waits for a lookup: whoever held it then, and has not stated its fact, is dead. */
const HOLD_SECONDS = 660;

/**
 * Answers the direct lookups of a source while this replica holds its first lane: they share the lane's budget. Each
 * definitive answer is stated as a fact, with its cost, before the caller hears of it. What it can cost at the most is
 * reserved before anybody is asked.
 */
export class LookupDesk {
  constructor(
    private readonly strategy: NatsStrategy,
    private readonly bus: Bus,
    private readonly database: Database,
    private readonly store: EventStore,
  ) {}

  /** Begins to answer; `stop` ends it once the answers under way are out. */
  open(lane: Lane): Pick<Stoppable, 'stop'> {
    const doors = new Map<string, LookupDoor>();
    return this.strategy.serve(lookupCommand(lane.source), (question) => {
      let door = doors.get(question.operation);
      if (!door) doors.set(question.operation, (door = new LookupDoor(lane)));
      return this.paid(lane, door, question);
    });
  }

  /** Answers for what the account has; without an answer that is stated nothing of it is spent. */
  private async paid(lane: Lane, door: LookupDoor, question: Question): Promise<LookedUp> {
    const { accountId, commandId } = question;
    const costBefore = await statedBefore(this.database, this.bus, accountId, commandId);
    if (costBefore !== undefined) return told(await this.inTime(lane, door, question), costBefore);
    // Of this asking: where the same question is asked again meanwhile, its credits are no longer ours to give back.
    const holder = newId();
    await this.reserve(question, holder);
    const answer = await this.inTime(lane, door, question).catch(async (error: unknown) => {
      await release(this.database, [{ holdId: commandId, holder }]);
      throw error;
    });
    return this.state(question, answer);
  }

  private async reserve(question: Question, holder: string): Promise<void> {
    const { source, operation, accountId, commandId: holdId } = question;
    const credits = creditsOfLookup(`${source}.${operation}`, mostFound(question));
    const hold = { holdId, accountId, credits, lifetimeSeconds: HOLD_SECONDS, holder };
    const { shortages, unopened } = await reserve(this.database, [hold]);
    if (unopened.has(holdId)) {
      metrics.lookups.add(1, { source, operation, outcome: 'no_ledger' });
      throw Refusal.unavailable('the account’s ledger is not there yet; try again');
    }
    const shortage = shortages.get(holdId);
    if (!shortage) return;
    metrics.lookups.add(1, { source, operation, outcome: 'insufficient_credits' });
    throw Refusal.insufficientCredits(shortage.needed, shortage.available);
  }

  private async inTime(lane: Lane, door: LookupDoor, question: Question): Promise<LookupAnswer> {
    const { source, operation } = question;
    const count = (outcome: string) => metrics.lookups.add(1, { source, operation, outcome });
    const answer = await this.ask(lane, door, question).catch((error: unknown) => {
      count(error instanceof UpstreamError ? error.kind : 'blocked');
      if (error instanceof UpstreamError) door.failed(error);
      throw refusalOf(error, lane, door);
    });
    door.succeeded();
    if (systemClock.now() > new Date(question.deadline)) {
      count('too_late');
      throw unavailable(`${source} took too long to answer`);
    }
    return answer;
  }

  private async state(question: Question, answer: LookupAnswer): Promise<LookedUp> {
    const { source, operation, accountId, commandId, questionJson } = question;
    const found = answer.kind === 'found' ? answer.found : 0;
    const outcome = answer.kind === 'found' ? 'found' : answer.code;
    const costCredits = creditsOfLookup(`${source}.${operation}`, found);
    const fact = create(LookupSchema, {
      lookupId: commandId,
      accountId,
      source,
      operation,
      at: isoOf(systemClock.now()),
      questionJson,
      outcome,
      found,
      costCredits,
      priceBookVersion: PRICE_BOOK_VERSION,
      billed: true,
    });
    // Before the fact is there: a crash between the two must not lose what it is to be paid with. Where it is not known
    // whether the fact was stored, billing gives the credits back when it has passed it by.
    await holdUntilCharged(this.database, [commandId]);
    await this.store.publish(subjectOf('LOOKUPS', accountId), toBinary(LookupSchema, fact), commandId);
    // Sent twice at once: the other's charge was quicker than this reservation, and will not use it up.
    await releaseCharged(this.database, [commandId]);
    metrics.lookups.add(1, { source, operation, outcome });
    return told(answer, costCredits);
  }

  private async ask(lane: Lane, door: LookupDoor, question: Question): Promise<LookupAnswer> {
    const lookup = lane.connector.lookups?.[question.operation];
    if (!lookup) throw Refusal.notFound('lookup');
    const asked = JSON.parse(question.questionJson) as JsonObject;
    return lookup(asked, { http: door.http, now: systemClock.now(), session: lane.session });
  }
}

/** @throws Refusal `not-found` for a definitive no */
function told(answer: LookupAnswer, costCredits: number): LookedUp {
  if (answer.kind === 'refused') throw new Refusal('not-found', answer.code, answer.message);
  return create(LookedUpSchema, { bodyJson: JSON.stringify(answer.body), found: answer.found, costCredits });
}

/** Things that a lookup can find at the most, where the price counts them. */
function mostFound({ questionJson }: Question): number {
  const { ids } = JSON.parse(questionJson) as { ids?: unknown };
  return Array.isArray(ids) ? ids.length : 0;
}

/** Why a lookup has no answer, as the caller is told it: nothing was charged. */
function refusalOf(error: unknown, lane: Lane, door: LookupDoor): unknown {
  if (error instanceof UpstreamError)
    return new Refusal(
      'unavailable',
      CODE_OF[error.kind] ?? 'UNAVAILABLE',
      `${error.message}; nothing was charged`,
    );
  if (error instanceof LaneBlocked) {
    const laneMs = lane.connector.lookupsApart ? 0 : lane.blockedForMs;
    const waitMs = Math.max(laneMs, door.heldForMs);
    if (waitMs === 0)
      return unavailable(`${lane.source} is asked too much at the moment; ask again in a while`);
    const reason = laneMs > 0 ? lane.blockedBy.message : `${lane.source} wants no more of these`;
    return unavailable(`${reason}; ask again in ${Math.ceil(waitMs / 1000)} s`);
  }
  return error;
}

function unavailable(message: string): Refusal {
  return Refusal.unavailable(`${message}; nothing was charged`);
}

/** Every other kind is `UNAVAILABLE`. */
const CODE_OF: Partial<Record<UpstreamErrorKind, string>> = {
  not_parsable: 'PARSE',
  truncated: 'PARSE',
  unknown_shape: 'PARSE',
  timeout: 'NETWORK',
  network: 'NETWORK',
  blocked: 'NETWORK',
  too_large: 'NETWORK',
};
