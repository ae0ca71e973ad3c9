import { fromBinary } from '@bufbuild/protobuf';
import { AlertDecisionSchema, type AlertDecision, type AlertFired } from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';
import { BIN_MS, binOf } from '../alerts/windows.js';

/** Stores the last episode of each rule and of each spike alert in `alert_episodes`. */
export const alertsProjection: Projection = {
  name: 'alerts-v1',
  stream: 'ALERTS',
  rebuild: {
    tables: ['alert_episodes'],
    // Evaluations move this time forward without a fact, so a rebuild cannot compute the time. An episode can be open for
    // longer than ALERTS keeps its alert.
    kept: [{ table: 'alert_episodes', key: 'alert_id', columns: ['above_until'], rows: true }],
    async forget(tx, subjects) {
      await tx.query('DELETE FROM alert_episodes WHERE keyword_id = ANY ($1)', [
        subjects.map((subject) => subject.split('.').at(-1)),
      ]);
    },
  },
  async apply(tx, messages) {
    for (const { data } of messages) {
      const decision = fromBinary(AlertDecisionSchema, data);
      for (const { event } of decision.events)
        if (event.case === 'fired') await fired(tx, decision, event.value);
        else if (event.case === 'ended')
          await tx.query('UPDATE alert_episodes SET ended = true WHERE keyword_id = $1 AND alert_id = $2', [
            decision.keywordId,
            event.value.alertId,
          ]);
    }
  },
};

async function fired(
  tx: Tx,
  { accountId, keywordId, decidedAt }: AlertDecision,
  { key, alertId, windowTo, suppressedUntil }: AlertFired,
): Promise<void> {
  const aboveUntil = new Date(binOf(Date.parse(windowTo) - 1) + BIN_MS);
  await tx.query(
    `INSERT INTO alert_episodes (keyword_id, key, account_id, alert_id, fired_at, suppressed_until, ended, above_until)
     VALUES ($1, $2, $3, $4, $5, $6, false, $7)
     ON CONFLICT (keyword_id, key) DO UPDATE SET alert_id = excluded.alert_id, fired_at = excluded.fired_at,
       suppressed_until = excluded.suppressed_until, ended = false, above_until = excluded.above_until`,
    [keywordId, key, accountId, alertId, decidedAt, suppressedUntil, aboveUntil],
  );
}
