import { Inject, Injectable } from '@nestjs/common';
import type { SourceId } from '#contracts';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** What polling has learned of a source's upstream, over all its lanes. */
export interface UpstreamHealth {
  /** Empty while every lane is well. */
  trouble: string;
  lastSuccessAt: Date | null;
}

/** Reads how the upstreams are. */
@Injectable()
export class SourceReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async health(): Promise<Map<SourceId, UpstreamHealth>> {
    const rows: { source: SourceId; trouble: string | null; last_success_at: Date | null }[] =
      await this.database.query(
        // Of a lane on which nothing is searched any more nobody will ever hear better news.
        `SELECT source, max(last_success_at) AS last_success_at,
           min(trouble) FILTER (WHERE trouble <> '' AND EXISTS (
             SELECT 1 FROM upstream_searches s WHERE s.lane = lanes.lane AND s.next_due_at < 'infinity')) AS trouble
         FROM lanes GROUP BY source`,
      );
    return new Map(
      rows.map((row) => [row.source, { trouble: row.trouble ?? '', lastSuccessAt: row.last_success_at }]),
    );
  }
}
