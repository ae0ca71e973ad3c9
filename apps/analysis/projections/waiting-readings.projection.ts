import { fromBinary } from '@bufbuild/protobuf';
import { ReadingFactSchema, type ReadingAsked } from '#contracts';
import { subjectOf } from '#messaging';
import type { Tx } from '#postgres';
import type { ProjectedMessage, Projection } from '#projections';
import { isRecorded } from '#telemetry';

/**
 * Matches the subjects of questions (a reading for which an event waits). The subjects of readings of whole checks have
 * one part less.
 */
export const WAITING_SUBJECTS = subjectOf('READINGS', '*', '*', '*');

const NAME = 'waiting-readings-v1';

/** Stores in the table `waiting_readings` the questions of READINGS that have no answer. */
export const waitingReadingsProjection: Projection = {
  name: NAME,
  stream: 'READINGS',
  subjects: WAITING_SUBJECTS,
  rebuild: {
    tables: ['waiting_readings'],
    async forget(tx, subjects) {
      await removeRows(tx, subjects.map(eventIdIn));
    },
  },
  async apply(tx, messages) {
    const asked: (ProjectedMessage & { question: ReadingAsked })[] = [];
    const answered: string[] = [];
    for (const message of messages) {
      const { fact } = fromBinary(ReadingFactSchema, message.data);
      // A check that NATS delivered twice can repeat its questions. Only the first message of a question is used,
      // because the question can already have an answer.
      if (fact.case === 'asked' && message.predecessor === 0)
        asked.push({ ...message, question: fact.value });
      else if (fact.case === 'answered') answered.push(eventIdIn(message.subject));
    }
    await addRows(tx, asked);
    await removeRows(tx, answered);
  },
};

/** Returns the id of the event in a subject `readings.<account>.<watch>.<event>`. */
function eventIdIn(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

async function addRows(
  tx: Tx,
  asked: readonly (ProjectedMessage & { question: ReadingAsked })[],
): Promise<void> {
  if (asked.length === 0) return;
  await tx.query(
    `INSERT INTO waiting_readings (event_id, account_id, watch_id, seq, has_step, deadline_at, due_at, traceparent)
     SELECT e, a, w, s, h, d, now(), t FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::boolean[],
       $6::timestamptz[], $7::text[]) AS q (e, a, w, s, h, d, t)
     ON CONFLICT DO NOTHING`,
    [
      asked.map(({ subject }) => eventIdIn(subject)),
      asked.map(({ question }) => question.draft?.accountId),
      asked.map(({ question }) => question.draft?.watchId),
      asked.map(({ seq }) => seq),
      asked.map(({ question }) => question.agentStep !== undefined),
      asked.map(({ question }) => question.deadline),
      asked.map(({ cause }) => (isRecorded(cause) ? cause : null)),
    ],
  );
}

async function removeRows(tx: Tx, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0)
    await tx.query('DELETE FROM waiting_readings WHERE event_id = ANY($1)', [eventIds]);
}
