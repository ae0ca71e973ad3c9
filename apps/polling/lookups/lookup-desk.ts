import { create, toBinary, type JsonObject, type MessageShape } from '@bufbuild/protobuf';
import {
  creditsOfLookup,
  LookedUpSchema,
  LookupSchema,
  PRICE_BOOK_VERSION,
  type LookedUp,
  type LookUpSchema,
} from '#contracts';
import type { EventStore } from '#event-store';
import { isoOf, Refusal, systemClock } from '#kernel';
import { commandHandler, lookupCommand, serveCommands, subjectOf, type Bus } from '#messaging';
import { UpstreamError, type LookupAnswer, type UpstreamErrorKind } from '#sources';
import { metrics, type Logger } from '#telemetry';
import { LaneBlocked, type Lane } from '../lanes/lane.js';
import { LookupDoor } from './lookup-door.js';

type Question = MessageShape<typeof LookUpSchema>;

/**
 * Answers the direct lookups of a source while this replica holds its first lane: they share the lane's budget. Each
 * definitive answer is stated as a fact, with its cost, before the caller hears of it.
 */
export class LookupDesk {
  constructor(
    private readonly bus: Bus,
    private readonly store: EventStore,
    private readonly log: Logger,
  ) {}

  /** Begins to answer; `stop` ends it once the answers under way are out. */
  open(lane: Lane): { stop(): Promise<void> } {
    const doors = new Map<string, LookupDoor>();
    const handler = commandHandler(lookupCommand(lane.source), (question) => {
      let door = doors.get(question.operation);
      if (!door) doors.set(question.operation, (door = new LookupDoor(lane)));
      return this.answer(lane, door, question);
    });
    return serveCommands(this.bus, [handler], this.log);
  }

  private async answer(lane: Lane, door: LookupDoor, question: Question): Promise<LookedUp> {
    const { source, operation } = question;
    const count = (outcome: string) => metrics.lookups.inc({ source, operation, outcome });
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
    const found = answer.kind === 'found' ? answer.found : 0;
    const outcome = answer.kind === 'found' ? 'found' : answer.code;
    const costCredits = creditsOfLookup(`${source}.${operation}`, found);
    const fact = create(LookupSchema, {
      lookupId: question.commandId,
      accountId: question.accountId,
      source,
      operation,
      at: isoOf(systemClock.now()),
      questionJson: question.questionJson,
      outcome,
      found,
      costCredits,
      priceBookVersion: PRICE_BOOK_VERSION,
    });
    const subject = subjectOf('LOOKUPS', question.accountId);
    await this.store.publish(subject, toBinary(LookupSchema, fact), question.commandId);
    count(outcome);
    if (answer.kind === 'refused') throw new Refusal(404, answer.code, answer.message);
    return create(LookedUpSchema, { bodyJson: JSON.stringify(answer.body), found, costCredits });
  }

  private async ask(lane: Lane, door: LookupDoor, question: Question): Promise<LookupAnswer> {
    const lookup = lane.connector.lookups?.[question.operation];
    if (!lookup) throw Refusal.notFound('lookup');
    const asked = JSON.parse(question.questionJson) as JsonObject;
    return lookup(asked, { http: door.http, now: systemClock.now(), session: lane.session });
  }
}

/** Why a lookup has no answer, as the caller is told it: nothing was charged. */
function refusalOf(error: unknown, lane: Lane, door: LookupDoor): unknown {
  if (error instanceof UpstreamError)
    return new Refusal(503, CODE_OF[error.kind] ?? 'UNAVAILABLE', `${error.message}; nothing was charged`);
  if (error instanceof LaneBlocked) {
    const waitMs = Math.max(lane.blockedForMs, door.heldForMs);
    if (waitMs === 0)
      return unavailable(`${lane.source} is asked too much at the moment; ask again in a while`);
    const reason = lane.blockedForMs > 0 ? lane.blockedBy.message : `${lane.source} wants no more of these`;
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
