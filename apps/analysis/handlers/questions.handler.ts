import { create, toBinary } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import {
  AskedQuestionSchema,
  creditsOfQuestion,
  LookupSchema,
  PRICE_BOOK_VERSION,
  SettledQuestionSchema,
  type AskQuestion,
  type SettleQuestion,
} from '#contracts';
import { holdUntilCharged, release, releaseCharged, reserve } from '#credits';
import { EmbeddingsUnavailable, type Embedder } from '#embeddings';
import type { EventStore } from '#event-store';
import { isoOf, newId, Refusal, systemClock } from '#kernel';
import { COMMANDS, subjectOf } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { CommandPattern } from '#transport';
import { EMBEDDER } from '../config.js';
import { searchWords } from '../search/words.js';

/** Longer than a search takes: a gateway that has not settled the question by then is dead. */
const HOLD_SECONDS = 120;
const FREE_MINUTES = 10;
/** The operation of the charge. */
export const SEMANTIC_SEARCH = 'semantic_search';

interface KnownQuestion {
  question_id: string;
  charged_at: Date | null;
}

/**
 * Answers what a semantic question means, and charges it when the gateway has found the mentions. An identical question
 * of the account is free for ten minutes.
 */
@Controller()
export class QuestionsHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(EMBEDDER) private readonly embedder: Embedder,
  ) {}

  @CommandPattern(COMMANDS.askQuestion)
  async ask({ accountId, questionHash, texts }: AskQuestion) {
    const { question_id: questionId, charged_at: chargedAt } = await this.known(accountId, questionHash);
    // Identifies this request: if the same question is asked again meanwhile, its credits belong to that request.
    const holder = chargedAt ? '' : newId();
    if (holder) await this.reserve(accountId, questionId, texts.length, holder);
    const vectors = await this.embedder.embed(texts, true).catch(async (error: unknown) => {
      if (holder) await release(this.database, [{ holdId: questionId, holder }]);
      if (error instanceof EmbeddingsUnavailable)
        throw Refusal.unavailable(`${error.message}; nothing was charged`);
      throw error;
    });
    const meanings = texts.map((text, n) => ({ vector: vectors[n]!, words: searchWords(text) }));
    return create(AskedQuestionSchema, { questionId, holder, model: this.embedder.model, meanings });
  }

  @CommandPattern(COMMANDS.settleQuestion)
  async settle(command: SettleQuestion) {
    const { accountId, questionId, holder, answered, texts } = command;
    if (!answered) {
      await release(this.database, [{ holdId: questionId, holder }]);
      return create(SettledQuestionSchema, { costCredits: 0 });
    }
    const costCredits = creditsOfQuestion(texts);
    const fact = create(LookupSchema, {
      lookupId: questionId,
      accountId,
      operation: SEMANTIC_SEARCH,
      at: isoOf(systemClock.now()),
      questionJson: JSON.stringify({ hash: command.questionHash }),
      outcome: 'found',
      found: texts,
      costCredits,
      priceBookVersion: PRICE_BOOK_VERSION,
      billed: true,
    });
    // Before the fact is published: a crash between the two must not lose the reserved credits.
    await holdUntilCharged(this.database, [questionId]);
    await this.store.publish(subjectOf('LOOKUPS', accountId), toBinary(LookupSchema, fact), questionId);
    await releaseCharged(this.database, [questionId]);
    const isFirst = await this.markCharged(command);
    return create(SettledQuestionSchema, { costCredits: isFirst ? costCredits : 0 });
  }

  /** The id under which this question is charged. A question that was asked longer ago gets a new one. */
  private async known(accountId: string, hash: string): Promise<KnownQuestion> {
    const rows: KnownQuestion[] = await this.database.query(
      `WITH made AS (
         INSERT INTO semantic_questions AS q (account_id, question_hash, question_id, asked_at)
         VALUES ($1, $2, $3, now())
         ON CONFLICT (account_id, question_hash) DO UPDATE
           SET question_id = excluded.question_id, asked_at = excluded.asked_at, charged_at = NULL
           WHERE coalesce(q.charged_at, q.asked_at) <= now() - make_interval(mins => $4)
         RETURNING question_id, charged_at)
       SELECT * FROM made
       UNION ALL
       SELECT question_id, charged_at FROM semantic_questions
       WHERE account_id = $1 AND question_hash = $2 AND NOT EXISTS (SELECT 1 FROM made)`,
      [accountId, Buffer.from(hash, 'hex'), newId(), FREE_MINUTES],
    );
    // Without a row another request has stored the question at this moment.
    return rows[0] ?? this.known(accountId, hash);
  }

  private async reserve(accountId: string, holdId: string, texts: number, holder: string): Promise<void> {
    const hold = {
      holdId,
      accountId,
      credits: creditsOfQuestion(texts),
      lifetimeSeconds: HOLD_SECONDS,
      holder,
    };
    const { shortages, unopened } = await reserve(this.database, [hold]);
    if (unopened.has(holdId)) throw Refusal.unavailable('the account’s ledger is not open yet; try again');
    const shortage = shortages.get(holdId);
    if (shortage) throw Refusal.insufficientCredits(shortage.needed, shortage.available);
  }

  /** False if an identical question was charged at the same time. */
  private async markCharged({ accountId, questionHash, questionId }: SettleQuestion): Promise<boolean> {
    const charged: unknown[] = await this.database.query(
      `WITH old AS (
         DELETE FROM semantic_questions WHERE (account_id, question_hash) IN
           (SELECT account_id, question_hash FROM semantic_questions
            WHERE asked_at < now() - make_interval(mins => $4) LIMIT 100 FOR UPDATE SKIP LOCKED)),
       charged AS (
         UPDATE semantic_questions SET charged_at = now()
         WHERE account_id = $1 AND question_hash = $2 AND question_id = $3 AND charged_at IS NULL RETURNING 1)
       SELECT 1 FROM charged`,
      [accountId, Buffer.from(questionHash, 'hex'), questionId, 2 * FREE_MINUTES],
    );
    return charged.length > 0;
  }
}
