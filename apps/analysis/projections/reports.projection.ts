import { fromBinary } from '@bufbuild/protobuf';
import { DigestAssembledSchema } from '#contracts';
import { jsonbText } from '#postgres';
import type { Projection } from '#projections';

/** Stores the weekly reports of DIGESTS in `reports`, from which the gateway reads them. */
export const reportsProjection: Projection = {
  name: 'reports-v1',
  stream: 'DIGESTS',
  severalOfSubject: true,
  rebuild: {
    tables: ['reports'],
    async forget(tx) {
      await tx.query('DELETE FROM reports WHERE keyword_id IN (SELECT keyword_id FROM purged_keywords)');
    },
  },
  async apply(tx, messages) {
    const reports = messages
      .map(({ data }) => fromBinary(DigestAssembledSchema, data))
      .filter(({ reportUrl }) => reportUrl !== '');
    if (reports.length === 0) return;
    await tx.query(
      `INSERT INTO reports (report_id, account_id, keyword_id, channel_id, period_from, period_to, created_at, url,
         token, body)
       SELECT n.* FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[],
         $7::timestamptz[], $8::text[], $9::text[], $10::jsonb[]) AS n
         (report_id, account_id, keyword_id, channel_id, period_from, period_to, created_at, url, token, body)
       JOIN keywords k USING (keyword_id) ON CONFLICT DO NOTHING`,
      [
        reports.map(({ digestId }) => digestId),
        reports.map(({ accountId }) => accountId),
        reports.map(({ keywordId }) => keywordId),
        reports.map(({ channelId }) => channelId),
        reports.map(({ periodFrom }) => periodFrom),
        reports.map(({ periodTo }) => periodTo),
        reports.map(({ assembledAt }) => assembledAt),
        reports.map(({ reportUrl }) => reportUrl),
        reports.map(({ reportUrl }) => reportUrl.split('/').at(-1)),
        reports.map(({ body }) => jsonbText(JSON.parse(new TextDecoder().decode(body)))),
      ],
    );
  },
};
