import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import {
  AskedQuestionSchema,
  creditsOfQuestion,
  SettledQuestionSchema,
  type AskQuestion,
  type SettleQuestion,
} from '#contracts';
import { EmbeddingsUnavailable, type Embedder } from '#embeddings';
import { newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { CommandPattern } from '#transport';
import { EMBEDDER } from '../config.js';
import { WorkCharges } from '../search/work-charges.js';
import { searchWords } from '../search/words.js';

/**
 * The reservation of a question lasts this long: longer than a search takes. A gateway that has not settled the
 * question after this time counts as dead.
 */
const RESERVATION_SECONDS = 120;
const FREE_MINUTES = 10;
/** The operation of the charge. */
export const SEMANTIC_SEARCH = 'semantic_search';

interface KnownQuestion {
  question_id: string;
  charged_at: Date | null;
}

/**
 * Returns the meaning of a semantic question, and charges the question after the gateway has found the mentions. Then
 * an identical question of the account is free for ten minutes.
 */
@Controller()
export class QuestionsHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly charges: WorkCharges,
    @Inject(EMBEDDER) private readonly embedder: Embedder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  @CommandPattern(COMMANDS.askQuestion)
  async ask({ accountId, questionHash, texts }: AskQuestion) {
    const { question_id: questionId, charged_at: chargedAt } = await this.questionFor(
      accountId,
      questionHash,
    );
    const cost = creditsOfQuestion(texts.length);
    const holder = chargedAt
      ? ''
      : await this.charges.reserve(accountId, questionId, cost, RESERVATION_SECONDS);
    const vectors = await this.embedder.embed(texts, true).catch(async (error: unknown) => {
      if (holder) await this.charges.release(questionId, holder);
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
      await this.charges.release(questionId, holder);
      return create(SettledQuestionSchema, { costCredits: 0 });
    }
    const costCredits = creditsOfQuestion(texts);
    await this.charges.charge({
      id: questionId,
      accountId,
      operation: SEMANTIC_SEARCH,
      questionJson: JSON.stringify({ hash: command.questionHash }),
      found: texts,
      costCredits,
    });
    // A failure is only logged, because the question is charged and the caller must get its answer. If the question is
    // repeated within ten minutes, it has the same id, so billing does not charge it again.
    const isFirst = await this.markCharged(command).catch((error: unknown) => {
      this.log.warn({ err: error, questionId }, 'a question could not be marked as charged');
      return true;
    });
    return create(SettledQuestionSchema, { costCredits: isFirst ? costCredits : 0 });
  }

  /**
   * Returns the id under which this question is charged. An identical question has the same id for ten minutes after it
   * was charged. If it was never charged, it has the same id for ten minutes after it was first asked. Then the id is
   * new.
   */
  private async questionFor(accountId: string, hash: string): Promise<KnownQuestion> {
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
    // If no row is returned, another request has stored the question at the same time.
    return rows[0] ?? this.questionFor(accountId, hash);
  }

  /** Marks a question as charged, and deletes some old questions. @returns false if the question was marked before */
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
