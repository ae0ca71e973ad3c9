import { create, type JsonObject, type MessageShape } from '@bufbuild/protobuf';
import { creditsOfLookup, LookedUpSchema, type LookedUp, type LookUpSchema } from '#contracts';
import { publishPaidWork, release, reserve } from '#credits';
import type { EventStore } from '#event-store';
import { newId, Refusal, systemClock } from '#kernel';
import { lookupCommand } from '#messaging';
import type { Database } from '#postgres';
import { UpstreamError, type Lookup, type LookupAnswer, type UpstreamErrorKind } from '#sources';
import { metrics, type Logger } from '#telemetry';
import type { NatsStrategy, Stoppable } from '#transport';
import type { Lane } from '../lanes/lane.js';
import { LaneBlocked } from '../lanes/request-budget.js';
import { LookupHttp } from './lookup-http.js';
import { costOfEarlierLookup } from './earlier-lookup.js';

type Question = MessageShape<typeof LookUpSchema>;

/**
 * The reservation of a lookup lasts this long, which is longer than any caller waits. A replica that has not published
 * its fact after this time counts as dead.
 */
const RESERVED_SECONDS = 660;

/**
 * Answers the direct lookups of a source while this replica holds the source's first lane. The maximum cost is reserved
 * before the upstream gets a request. Each definitive answer is published as a fact with its cost before the caller
 * receives the answer. A repetition of a published lookup reserves and publishes nothing.
 */
export class LookupWorker {
  constructor(
    private readonly strategy: NatsStrategy,
    private readonly database: Database,
    private readonly store: EventStore,
    private readonly log: Logger,
  ) {}

  /** Starts to answer lookups. `stop` resolves after the running lookups have been answered. */
  open(lane: Lane): Pick<Stoppable, 'stop'> {
    const clients = new Map<string, LookupHttp>();
    return this.strategy.serve(lookupCommand(lane.source), (question) => {
      let client = clients.get(question.operation);
      if (!client) clients.set(question.operation, (client = new LookupHttp(lane)));
      return this.paid(lane, client, question);
    });
  }

  /**
   * Reserves the credits, then answers. If the upstream gives no answer in time, the credits are released. A repeated
   * lookup that was already charged is not charged again.
   * @throws Refusal `unavailable` if this service does not know the lookup, the ledger is not open yet, there is no
   * answer in time, or NATS does not confirm the fact; `not-covered` without enough credits; `not-found` if the
   * upstream reported that the object does not exist
   */
  private async paid(lane: Lane, client: LookupHttp, question: Question): Promise<LookedUp> {
    const { source, operation, accountId, commandId } = question;
    const { lookups = {} } = lane.connector;
    const lookup = Object.hasOwn(lookups, operation) ? lookups[operation] : undefined;
    if (!lookup) {
      metrics.lookups.add(1, { source, operation, outcome: 'unknown_operation' });
      // During an update, the gateway can know more lookups than this service.
      throw unavailable(`the polling service has no lookup ${source}.${operation}`);
    }
    const costBefore = await costOfEarlierLookup(this.database, this.store, accountId, commandId);
    if (costBefore !== undefined)
      return lookedUp(await this.inTime(lane, client, lookup, question), costBefore);
    // The holder identifies this request. If the same lookup is sent again while this one runs, neither request
    // releases the reservation, because the other request needs it.
    const holder = newId();
    await this.reserve(question, holder);
    const answer = await this.inTime(lane, client, lookup, question).catch(async (error: unknown) => {
      await release(this.database, [{ reservationId: commandId, holder }]);
      throw error;
    });
    return this.publish(question, answer);
  }

  private async reserve(question: Question, holder: string): Promise<void> {
    const { source, operation, accountId, commandId: reservationId } = question;
    const credits = creditsOfLookup(`${source}.${operation}`, maxFound(question));
    const lifetimeSeconds = RESERVED_SECONDS;
    const reservation = { reservationId, accountId, credits, lifetimeSeconds, holder, isShared: true };
    const { shortages, unopened } = await reserve(this.database, [reservation]);
    if (unopened.has(reservationId)) {
      metrics.lookups.add(1, { source, operation, outcome: 'no_ledger' });
      throw Refusal.unavailable('the account’s ledger is not open yet; try again');
    }
    const shortage = shortages.get(reservationId);
    if (!shortage) return;
    metrics.lookups.add(1, { source, operation, outcome: 'insufficient_credits' });
    throw Refusal.insufficientCredits(shortage.needed, shortage.available);
  }

  private async inTime(
    lane: Lane,
    client: LookupHttp,
    lookup: Lookup,
    question: Question,
  ): Promise<LookupAnswer> {
    const { source, operation } = question;
    const count = (outcome: string) => metrics.lookups.add(1, { source, operation, outcome });
    const refuseLate = (message: string) => {
      if (systemClock.now() <= new Date(question.deadline)) return;
      count('too_late');
      throw unavailable(message);
    };
    // Requests to the upstream are limited, and can cost money.
    refuseLate('the lookup waited too long');
    const answer = await ask(lane, client, lookup, question).catch((error: unknown) => {
      count(failureOf(error));
      if (error instanceof UpstreamError) client.failed(error);
      throw refusalOf(error, lane, client);
    });
    client.succeeded();
    refuseLate(`${source} took too long to respond`);
    return answer;
  }

  private async publish(question: Question, answer: LookupAnswer): Promise<LookedUp> {
    const { source, operation, accountId, commandId, questionJson } = question;
    const found = answer.kind === 'found' ? answer.found : 0;
    const outcome = answer.kind === 'found' ? 'found' : answer.code;
    const costCredits = creditsOfLookup(`${source}.${operation}`, found);
    const work = { accountId, source, operation, questionJson, outcome, found, costCredits };
    const { database, store, log } = this;
    await publishPaidWork({ database, store, log }, { id: commandId, ...work });
    metrics.lookups.add(1, { source, operation, outcome });
    return lookedUp(answer, costCredits);
  }
}

async function ask(
  lane: Lane,
  client: LookupHttp,
  lookup: Lookup,
  { accountId, questionJson }: Question,
): Promise<LookupAnswer> {
  const query = JSON.parse(questionJson) as JsonObject;
  return lookup(query, { http: client.of(accountId), now: systemClock.now(), session: lane.session });
}

/**
 * Returns the reply of a lookup. @throws Refusal `not-found` if the upstream reported that the object does not exist
 */
function lookedUp(answer: LookupAnswer, costCredits: number): LookedUp {
  if (answer.kind === 'refused') throw new Refusal('not-found', answer.code, answer.message);
  return create(LookedUpSchema, { bodyJson: JSON.stringify(answer.body), found: answer.found, costCredits });
}

/**
 * Returns the maximum number of objects that a lookup can find, if the lookup's price depends on this number; otherwise
 * 0.
 */
function maxFound({ questionJson }: Question): number {
  const { ids } = JSON.parse(questionJson) as { ids?: unknown };
  return Array.isArray(ids) ? ids.length : 0;
}

/**
 * Returns the outcome that the metric counts for a lookup without an answer. `lane_blocked` means that the lane sent no
 * request. `blocked` is a kind of `UpstreamError`: the address of the upstream is not allowed.
 */
function failureOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.kind;
  return error instanceof LaneBlocked ? 'lane_blocked' : 'defect';
}

/** Returns the refusal for an error of the upstream or of the lane. Returns any other error unchanged. */
function refusalOf(error: unknown, lane: Lane, client: LookupHttp): unknown {
  if (error instanceof UpstreamError)
    return new Refusal(
      'unavailable',
      CODE_OF[error.kind] ?? 'UNAVAILABLE',
      `${error.message}; nothing was charged`,
    );
  if (error instanceof LaneBlocked) {
    const laneMs = lane.connector.lookupsApart ? 0 : lane.budget.blockedForMs;
    const waitMs = Math.max(laneMs, client.heldForMs);
    if (waitMs === 0)
      return unavailable(`no request to ${lane.source} can be sent at the moment; try again later`);
    const reason =
      laneMs > 0 ? lane.budget.blockedBy.message : `${lane.source} accepts no more of these requests`;
    return unavailable(`${reason}; try again in ${Math.ceil(waitMs / 1000)} s`);
  }
  return error;
}

function unavailable(message: string): Refusal {
  return Refusal.unavailable(`${message}; nothing was charged`);
}

/** The codes of some kinds of errors. All other kinds are `UNAVAILABLE`. */
const CODE_OF: Partial<Record<UpstreamErrorKind, string>> = {
  not_parsable: 'PARSE',
  truncated: 'PARSE',
  unknown_shape: 'PARSE',
  timeout: 'NETWORK',
  network: 'NETWORK',
  blocked: 'NETWORK',
  too_large: 'NETWORK',
};
