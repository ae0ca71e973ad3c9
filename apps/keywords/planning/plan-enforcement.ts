import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { KeywordDefinitionSchema, limitsOf, WatchSchema } from '#contracts';
import { storedCriteria } from '#criteria';
import { derivedId, Refusal } from '#kernel';
import { lockAccount, type Tx } from '#postgres';
import { KeywordDecisions } from '../handlers/keyword-decisions.js';
import { isAlive, remainingOf } from '../handlers/pauses.handler.js';
import { Admission } from './admission.js';

/** A keyword, or a watch without a keyword, and what it uses of the plan. */
interface Subject {
  id: string;
  is_keyword: boolean;
  slots: number;
  pauses: string[];
  definition: JsonValue | null;
  source: string | null;
  criteria: JsonValue | null;
  interval_seconds: number | null;
}

/**
 * Maximum number of passes of an enforcement. Each pass checks again whether everything fits: if a keyword is created
 * during a pass, and then an older keyword resumes, the new keyword possibly does not fit any more. The next pass
 * pauses it.
 */
const MAX_PASSES = 5;

/**
 * Pauses the keywords and watches that exceed the limits of an account's plan, and resumes the keywords and watches
 * that fit again. The oldest keywords and watches use the plan first. A keyword or watch is paused if too little of the
 * plan is left for it, or if the plan does not allow its intervals or terms.
 */
@Injectable()
export class PlanEnforcement {
  constructor(
    private readonly decisions: KeywordDecisions,
    private readonly admission: Admission,
  ) {}

  /**
   * Applies the current plan to the account's keywords and watches.
   * @param causeId id of the decision that caused the enforcement. A repetition with the same id continues the
   *   enforcement: commands that are already stored are not executed again
   */
  async enforce(accountId: string, causeId: string): Promise<void> {
    for (let pass = 0; pass < MAX_PASSES; pass += 1)
      if (!(await this.pass(accountId, pass === 0 ? causeId : derivedId(causeId, String(pass))))) return;
  }

  /** @returns whether something had to be changed */
  private async pass(accountId: string, causeId: string): Promise<boolean> {
    const { subjects, over } = await this.decisions.database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      return this.readUse(tx, accountId);
    });
    // Pauses come first. Otherwise a resumed subject could run at the same time as a subject that must be paused.
    const changing = subjects.filter(({ id, pauses }) => over.has(id) !== pauses.includes('plan'));
    for (const { id } of changing.toSorted((a, b) => Number(over.has(b.id)) - Number(over.has(a.id))))
      await this.decisions.run(
        { accountId, commandId: derivedId('plan', causeId, id) },
        id,
        async (tx, state) => {
          if (!isAlive(state)) return undefined;
          // The plan can have changed again since the first query.
          const isOver = (await this.readUse(tx, accountId)).over.has(id);
          const creditsRemaining = await remainingOf(tx, accountId);
          return isOver
            ? { kind: 'pause', reason: 'plan', creditsRemaining, creditsNeeded: 0 }
            : { kind: 'resume', reasons: ['plan'], creditsRemaining };
        },
      );
    return changing.length > 0;
  }

  /**
   * Returns the account's keywords and watches that are not deleted, and the ids of those that exceed the plan. Returns
   * nothing for an unknown account. The result is valid only while the caller holds the account's lock.
   */
  private async readUse(tx: Tx, accountId: string): Promise<{ subjects: Subject[]; over: Set<string> }> {
    const plan = await planOf(tx, accountId);
    if (plan === undefined) return { subjects: [], over: new Set() };
    const subjects = await subjectsOf(tx, accountId);
    return { subjects, over: this.overLimit(plan, subjects) };
  }

  /**
   * Returns the ids of the subjects that exceed the limits. The oldest subjects use the plan first. A subject that
   * exceeds the limits uses nothing, so a younger and smaller subject can fit.
   */
  private overLimit(plan: string, subjects: readonly Subject[]): Set<string> {
    const limits = limitsOf(plan);
    const over = new Set<string>();
    let keywords = 0;
    let slots = 0;
    for (const subject of subjects) {
      const keywordsWith = keywords + (subject.is_keyword ? 1 : 0);
      const slotsWith = slots + subject.slots;
      const tooMany = subject.is_keyword && limits.keywords !== null && keywordsWith > limits.keywords;
      const tooLarge = limits.searchSlots !== null && slotsWith > limits.searchSlots;
      if (tooMany || tooLarge || !this.fits(plan, subject)) {
        over.add(subject.id);
        continue;
      }
      keywords = keywordsWith;
      slots = slotsWith;
    }
    return over;
  }

  /** Returns whether the intervals and terms of the subject are within the plan's limits. */
  private fits(plan: string, subject: Subject): boolean {
    try {
      if (subject.definition)
        this.admission.requireFit(
          plan,
          fromJson(KeywordDefinitionSchema, subject.definition, { ignoreUnknownFields: true }),
        );
      else
        this.admission.requireWatchFit(plan, {
          ...create(WatchSchema),
          source: subject.source ?? '',
          intervalSeconds: subject.interval_seconds ?? 0,
          criteria: storedCriteria(subject.criteria ?? {}),
        });
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }
}

async function planOf(tx: Tx, accountId: string): Promise<string | undefined> {
  const rows: { plan: string }[] = await tx.query('SELECT plan FROM accounts WHERE account_id = $1', [
    accountId,
  ]);
  return rows[0]?.plan;
}

function subjectsOf(tx: Tx, accountId: string): Promise<Subject[]> {
  return tx.query(
    `SELECT keyword_id AS id, true AS is_keyword, pauses, definition, NULL AS source, NULL::jsonb AS criteria,
       NULL::int AS interval_seconds, created_at,
       (SELECT count(*)::int FROM watches w WHERE w.keyword_id = k.keyword_id AND w.retired_at IS NULL
          AND NOT w.disabled) AS slots
     FROM keywords k WHERE account_id = $1 AND state <> 'retired'
     UNION ALL
     SELECT watch_id, false, pauses, NULL, source, criteria, interval_seconds, created_at, 1
     FROM watches WHERE account_id = $1 AND keyword_id IS NULL AND retired_at IS NULL
     ORDER BY created_at, id`,
    [accountId],
  );
}
