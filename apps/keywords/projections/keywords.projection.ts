import { fromBinary, fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import {
  KeywordDecisionSchema,
  KeywordDefinitionSchema,
  type KeywordChanged,
  type KeywordDecision,
  type KeywordDefinition,
  type KeywordEvent,
  type Paused,
  type Resumed,
} from '#contracts';
import { together, type Tx } from '#postgres';
import { KEYWORDS_PROJECTION, type Projection } from '#projections';
import { withoutReason, withReason, type PauseReason, type Pauses } from '../domain/pauses.js';
import { nextScheduleChange } from '../domain/schedule.js';
import { beginQuotedPeriods, recordQuotedPeriods } from './quoted-periods.js';
import { changeWatch, putWatches, retireWatches, type OwnedWatches, type WatchOwner } from './watch-rows.js';

/**
 * A command compares the keyword's schedule with the clock, and a little later reads the clock again for `decidedAt`.
 * The schedule can start or end between these two times. So a start or end shortly before `decidedAt` is processed
 * again.
 */
const LOOK_BACK_MS = 60_000;

/** Keeps `keywords`, `watches` and `quoted_periods` up to date with KEYWORDS. */
export const keywordsProjection: Projection = {
  name: KEYWORDS_PROJECTION,
  stream: 'KEYWORDS',
  // The consumer waits this long before it reads a batch, so that the commands have usually committed. A command
  // applies its own decision to the tables. Without the wait, the consumer would often lock its position for a
  // transaction that changes nothing.
  lingerMs: 100,
  rebuild: {
    tables: ['watches', 'keywords'],
    // No stream contains the periods of purged keywords, or the periods that a new price book began.
    untouched: ['quoted_periods'],
    kept: [
      { table: 'keywords', key: 'keyword_id', columns: ['schedule_turns_at'] },
      {
        table: 'watches',
        key: 'watch_id',
        columns: ['credits_per_check', 'first_scan_credits', 'price_book_version'],
      },
    ],
    async forget(tx, subjects) {
      await tx.query(
        `DELETE FROM keywords WHERE keyword_id = ANY ($1) OR keyword_id IN (SELECT keyword_id FROM purged_keywords)`,
        [subjects.map((subject) => subject.split('.').at(-1))],
      );
    },
  },
  async apply(tx, messages) {
    const decisions = messages.map(({ data }) => fromBinary(KeywordDecisionSchema, data));
    const subjects = decisions.map(({ subjectId, decidedAt: at }) => ({ subjectId, at }));
    // All rows are inserted together, because one statement per row would be slower.
    const created = createAll(tx, decisions);
    if (decisions.every(isOnlyCreation)) {
      await together([created, beginQuotedPeriods(tx, subjects)]);
      return;
    }
    await created;
    for (const decision of decisions)
      for (const event of decision.events) await applyEvent(tx, decision, event);
    await recordQuotedPeriods(tx, subjects);
  },
};

function isOnlyCreation({ events }: KeywordDecision): boolean {
  const [first] = events;
  return (
    events.length === 1 && (first?.event.case === 'keywordCreated' || first?.event.case === 'watchCreated')
  );
}

/** Inserts keywords with their watches, and lone watches. The other events of their decisions are applied afterwards. */
async function createAll(tx: Tx, decisions: readonly KeywordDecision[]): Promise<void> {
  const keywords: object[] = [];
  const owned: OwnedWatches[] = [];
  for (const decision of decisions)
    for (const { event } of decision.events)
      if (event.case === 'keywordCreated' && event.value.definition) {
        const { definition, watches } = event.value;
        keywords.push(keywordRow(definition, decision));
        owned.push({ decision, watches, owner: ownerOf(definition, decision) });
      } else if (event.case === 'watchCreated' && event.value.watch) {
        const { watch, webhookUrl, ai, analysis } = event.value;
        const owner = { keywordId: null, webhookUrl: webhookUrl || null, webhookMode: 'all', ai, analysis };
        owned.push({ decision, watches: [watch], owner });
      }
  await together([putKeywords(tx, keywords), putWatches(tx, owned)]);
}

async function putKeywords(tx: Tx, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, schedule_turns_at, created_at, updated_at, version)
     SELECT n.keyword_id, n.account_id, n.name, 'active', n.definition, n.schedule_turns_at, n.decided_at, n.decided_at, 1
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, account_id uuid, name text, definition jsonb,
       schedule_turns_at timestamptz, decided_at timestamptz)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

async function applyEvent(tx: Tx, decision: KeywordDecision, { event }: KeywordEvent): Promise<void> {
  const { subjectId, decidedAt } = decision;
  switch (event.case) {
    case 'keywordChanged':
      return keywordChanged(tx, decision, event.value);
    case 'keywordPaused':
      return setPauses(tx, 'keywords', decision, { added: event.value });
    case 'keywordResumed':
      return setPauses(tx, 'keywords', decision, { removed: event.value });
    case 'keywordRetired':
      await tx.query(
        `UPDATE keywords SET state = 'retired', paused_reason = NULL, pauses = '{}', schedule_turns_at = NULL,
           updated_at = $2, version = version + 1
         WHERE keyword_id = $1`,
        [subjectId, decidedAt],
      );
      return retireWatches(tx, 'keyword_id', [subjectId], decidedAt);
    case 'watchChanged':
      await changeWatch(tx, decision, event.value);
      if (event.value.isActive === undefined) return;
      return setPauses(
        tx,
        'watches',
        decision,
        event.value.isActive
          ? { removed: { reason: 'user' } }
          : { added: { reason: 'user', creditsNeeded: 0 } },
      );
    case 'watchPaused':
      return setPauses(tx, 'watches', decision, { added: event.value });
    case 'watchResumed':
      return setPauses(tx, 'watches', decision, { removed: event.value });
    case 'watchRetired':
      return retireWatches(tx, 'watch_id', [subjectId], decidedAt);
    case 'feedRotated':
      await tx.query('UPDATE keywords SET feed_key = $2 WHERE keyword_id = $1', [
        subjectId,
        event.value.feedKey,
      ]);
      return;
    // `createAll` has already applied this event.
    case 'keywordCreated':
    case 'watchCreated':
    case undefined:
      return;
  }
}

async function keywordChanged(
  tx: Tx,
  decision: KeywordDecision,
  { definition, watches, retiredWatchIds }: KeywordChanged,
): Promise<void> {
  if (!definition) return;
  await tx.query(
    `UPDATE keywords SET name = $2, definition = $3, schedule_turns_at = $4, updated_at = $5, version = version + 1
     WHERE keyword_id = $1`,
    [
      decision.subjectId,
      definition.name,
      JSON.stringify(definitionJson(definition)),
      nextScheduleTime(definition, decision),
      decision.decidedAt,
    ],
  );
  await retireWatches(tx, 'watch_id', retiredWatchIds, decision.decidedAt);
  await putWatches(tx, [{ decision, watches, owner: ownerOf(definition, decision) }]);
}

interface PausesChange {
  added?: Pick<Paused, 'reason' | 'creditsNeeded'>;
  removed?: Pick<Resumed, 'reason'>;
}

/** Adds or removes a reason of a pause. The watches of a keyword pause and resume together with the keyword. */
async function setPauses(
  tx: Tx,
  table: 'keywords' | 'watches',
  { subjectId, decidedAt }: KeywordDecision,
  { added, removed }: PausesChange,
): Promise<void> {
  const id = table === 'keywords' ? 'keyword_id' : 'watch_id';
  const rows: { pauses: PauseReason[]; needed: number; definition?: JsonValue }[] = await tx.query(
    `SELECT pauses, credits_needed AS needed${table === 'keywords' ? ', definition' : ''} FROM ${table} WHERE ${id} = $1`,
    [subjectId],
  );
  const row = rows[0];
  if (!row) return;
  let pauses: Pauses = { reasons: row.pauses, creditsNeeded: row.needed };
  if (added) pauses = withReason(pauses, added.reason, added.creditsNeeded);
  if (removed) pauses = withoutReason(pauses, removed.reason);
  const reason = pauses.reasons[0] ?? null;
  const values = [subjectId, pauses.reasons, reason, pauses.creditsNeeded, decidedAt];
  const common = `pauses = $2, paused_reason = $3, credits_needed = $4, updated_at = $5`;
  if (table === 'watches')
    return void (await tx.query(
      `UPDATE watches SET ${common}, is_active = ($3::text IS NULL) WHERE watch_id = $1`,
      values,
    ));
  await tx.query(
    `UPDATE keywords SET ${common}, state = CASE WHEN $3::text IS NULL THEN 'active' ELSE 'paused' END,
       version = version + 1
     WHERE keyword_id = $1`,
    values,
  );
  // A pause for another reason keeps the time of the next start or end. Otherwise `pauses.loop.ts` would miss a start or
  // end that is overdue.
  if ((added ?? removed)?.reason === 'schedule') {
    const definition = fromJson(KeywordDefinitionSchema, row.definition ?? {}, { ignoreUnknownFields: true });
    await tx.query('UPDATE keywords SET schedule_turns_at = $2 WHERE keyword_id = $1', [
      subjectId,
      nextScheduleTime(definition, { decidedAt }),
    ]);
  }
  await tx.query(
    `UPDATE watches SET is_active = ($2::text IS NULL AND NOT disabled), paused_reason = $2, updated_at = $3
     WHERE keyword_id = $1 AND retired_at IS NULL`,
    [subjectId, reason, decidedAt],
  );
}

function ownerOf(definition: KeywordDefinition, { subjectId }: KeywordDecision): WatchOwner {
  return {
    keywordId: subjectId,
    webhookUrl: definition.webhookUrl || null,
    webhookMode: definition.webhookMode,
    ai: definition.aiStep,
    analysis: definition.sentimentEnabled,
  };
}

function keywordRow(definition: KeywordDefinition, decision: KeywordDecision) {
  return {
    keyword_id: decision.subjectId,
    account_id: decision.accountId,
    name: definition.name,
    definition: definitionJson(definition),
    schedule_turns_at: nextScheduleTime(definition, decision),
    decided_at: decision.decidedAt,
  };
}

function definitionJson(definition: KeywordDefinition): JsonValue {
  return toJson(KeywordDefinitionSchema, definition, { alwaysEmitImplicit: true });
}

/** Returns the next start or end of the schedule, counted from shortly before the decision. */
function nextScheduleTime(
  { schedule }: KeywordDefinition,
  { decidedAt }: Pick<KeywordDecision, 'decidedAt'>,
): Date | null {
  const next = nextScheduleChange(schedule, Date.parse(decidedAt) - LOOK_BACK_MS);
  return next === undefined ? null : new Date(next);
}
