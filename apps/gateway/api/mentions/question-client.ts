import { create } from '@bufbuild/protobuf';
import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { canonicalize } from 'json-canonicalize';
import { AskQuestionSchema, SettleQuestionSchema, type AskedQuestion } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS } from '#messaging';
import { LOG } from '#platform';
import type { Logger } from '#telemetry';
import { CommandClient } from '#transport';

/**
 * Maximum time for one command: to embed a question, or to charge it. The embedding takes milliseconds with the local
 * model, and seconds with an external service. The charge waits up to 15 s for NATS.
 */
const TIMEOUT_MS = 30_000;

/** The result of a semantic question, and its cost in credits. */
export interface Answered<T> {
  found: T;
  cost: number;
}

/** Asks semantic questions. A question is charged after it was answered. */
@Injectable()
export class QuestionClient {
  constructor(
    private readonly commands: CommandClient,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Reserves credits, computes the embeddings, runs the search, and then charges the question. A question that was
   * already paid costs nothing.
   * @param scope everything that identifies the question: keyword, filters, window
   * @param search finds the mentions; if it throws, nothing is charged
   * @throws Refusal `not-covered` if the credits are not sufficient, before anything is computed or read; `unavailable`
   *   if the embedding cannot be computed, if the account has no ledger yet, or if NATS does not confirm the charge. If
   *   NATS does not confirm the charge, the question may still be charged
   */
  async ask<T>(
    accountId: string,
    texts: readonly string[],
    scope: unknown,
    search: (question: AskedQuestion) => Promise<T>,
  ): Promise<Answered<T>> {
    const questionHash = createHash('sha256').update(canonicalize({ texts, scope })).digest('hex');
    const ask = { commandId: newId(), accountId, questionHash, texts: [...texts] };
    const question = await this.commands.request(
      COMMANDS.askQuestion,
      create(AskQuestionSchema, ask),
      TIMEOUT_MS,
    );
    const { questionId, holder } = question;
    const settle = (answered: boolean) =>
      this.commands.request(
        COMMANDS.settleQuestion,
        create(SettleQuestionSchema, {
          commandId: newId(),
          accountId,
          questionId,
          holder,
          questionHash,
          texts: texts.length,
          answered,
        }),
        TIMEOUT_MS,
      );
    const found = await search(question).catch(async (error: unknown) => {
      // If the release fails too, the reservation expires within minutes.
      if (holder)
        await settle(false).catch((err: unknown) => this.log.warn({ err }, 'credits stay reserved'));
      throw error;
    });
    return { found, cost: holder ? (await settle(true)).costCredits : 0 };
  }
}
