import { create, type JsonObject } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { LookUpSchema, type SourceId } from '#contracts';
import { isoOf, newId, Refusal } from '#kernel';
import { lookupCommand } from '#messaging';
import { CommandClient } from '#transport';
import { SOURCES } from '../../config.js';
import { unavailability, type Sources } from '../keywords/keyword-faults.js';

/**
 * Maximum time of a lookup: shorter than the 60 s after which `libs/platform/http-edge.ts` responds with 503. Two requests
 * of a lookup usually need less, although each can wait 10 s for its turn and 20 s for its answer.
 */
const TIMEOUT_MS = 57_000;

/** Time for the reply to reach the gateway. */
const MARGIN_MS = 2_000;

/** The result of a lookup, and its cost. */
export interface LookupResult {
  body: JsonObject;
  /** Credits. */
  cost: number;
}

/** Sends one lookup to an upstream, through a polling replica that holds a lane of the source. */
@Injectable()
export class LookupClient {
  constructor(
    private readonly commands: CommandClient,
    @Inject(SOURCES) private readonly sources: Sources,
  ) {}

  /**
   * Sends the lookup and returns its result.
   * @param commandId identifies the lookup; a lookup with the same id is charged only once
   * @throws Refusal `invalid` if the source is not configured or is turned off, `not-covered` if the credits are not
   *   sufficient, `not-found` if the upstream reports that the object does not exist, `unavailable` if no request can
   *   be sent, if there is no readable answer in time, or if the account has no ledger yet
   */
  async ask(
    accountId: string,
    source: SourceId,
    operation: string,
    question: JsonObject,
    commandId = newId(),
  ): Promise<LookupResult> {
    const unavailable = unavailability(source, this.sources);
    if (unavailable) throw Refusal.validation([{ path: 'source', message: unavailable }]);
    const input = create(LookUpSchema, {
      commandId,
      accountId,
      source,
      operation,
      questionJson: JSON.stringify(question),
      deadline: isoOf(new Date(Date.now() + TIMEOUT_MS - MARGIN_MS)),
    });
    const { bodyJson, costCredits } = await this.commands.request(lookupCommand(source), input, TIMEOUT_MS);
    return { body: JSON.parse(bodyJson) as JsonObject, cost: costCredits };
  }
}
