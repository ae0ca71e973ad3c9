import { Inject, Injectable } from '@nestjs/common';
import type { SourceId } from '#contracts';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** The health of a source's upstream. */
export interface UpstreamHealth {
  /**
   * Empty if no lane with scheduled searches is unhealthy. If lanes have several troubles, the first in alphabetical
   * order.
   */
  trouble: string;
  lastSuccessAt: Date | null;
}

/** Reads the health of the upstreams. */
@Injectable()
export class SourceReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async health(): Promise<Map<SourceId, UpstreamHealth>> {
    const rows: { source: SourceId; trouble: string | null; last_success_at: Date | null }[] =
      await this.database.query(
        // Leaves out the trouble of a lane without a scheduled search: until a search of the lane is scheduled, no
        // check can clear it.
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
