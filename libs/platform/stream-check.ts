import { SettingsError } from '#config';
import { untilAnswered, type Bus, type StreamName } from '#messaging';
import type { Database } from '#postgres';

/** A stream whose last message is older than the last message that Postgres has applied. */
export interface StreamBehind {
  stream: string;
  followedUpTo: number;
  lastSequence: number;
}

/**
 * Returns the streams that end before the last message that Postgres has applied: NATS' directory was lost or restored
 * from an older copy.
 */
export async function streamsBehind(database: Database, bus: Bus): Promise<StreamBehind[]> {
  const followed = await database.query<{ stream: StreamName; seq: number }[]>(
    `SELECT upper(split_part(subject, '.', 1)) AS stream, max(seq) AS seq FROM projection_positions GROUP BY 1
     UNION ALL SELECT 'CREDITS', max(seq) FROM credit_balances HAVING max(seq) > 0
     UNION ALL SELECT 'CHECKS', max(check_seq) FROM watch_schedule HAVING max(check_seq) > 0`,
  );
  const found: StreamBehind[] = [];
  for (const { stream, seq } of followed) {
    const { state } = await untilAnswered(() => bus.jsm.streams.info(stream));
    if (seq > state.last_seq) found.push({ stream, followedUpTo: seq, lastSequence: state.last_seq });
  }
  return found;
}

/**
 * Refuses a start if streams end before the last message that the tables contain. Otherwise each command on the subject
 * of a lost decision would fail, and so would billing.
 * @throws SettingsError that says what to do
 */
export async function checkStreams(database: Database, bus: Bus): Promise<void> {
  const behind = await streamsBehind(database, bus);
  if (behind.length === 0) return;
  const list = behind.map(
    ({ stream, followedUpTo, lastSequence }) =>
      `${stream} ends at message ${lastSequence}, and Postgres has applied messages up to ${followedUpTo}`,
  );
  throw new SettingsError(
    `NATS has lost messages that Postgres has applied: ${list.join('; ')}.\n` +
      "Put NATS' directory (DATA_DIR/nats) back from a backup that is as new as Postgres. If there is none: move Postgres' " +
      'data away (DATA_DIR/postgres), or set DATABASE_URL to a new, empty database. The next start builds it from the messages that NATS still contains.',
  );
}
