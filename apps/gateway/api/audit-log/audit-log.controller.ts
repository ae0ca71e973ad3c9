import { Controller, Get, Inject, Query } from '@nestjs/common';
import { isoOf } from '#kernel';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import type { Caller } from '../../auth/api-keys.js';
import { AUDIT_KEPT_DAYS } from '../../auth/audit-log.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pageOf, type ListPosition } from '../../http/newest-first.js';
import { QueryReader, type RawQuery } from '../../http/query.js';

interface Row {
  entry_id: string;
  at: Date;
  by_kind: string;
  by_id: string;
  /** The email address of the member, or the name of the key. */
  by_name: string | null;
  method: string;
  route: string;
  path: string;
  body_keys: string[];
  status: number | null;
  request_id: string;
  network_address: string;
}

/** Shows owners what the members and the keys of an account changed. */
@Controller('v1/audit-log')
export class AuditLogController {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly cursors: Cursors,
  ) {}

  @Get()
  list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const by = query.id('by') ?? null;
    const { from: since, to: until } = query.span('since', 'until');
    const filters = { by, since: since?.toISOString() ?? null, until: until?.toISOString() ?? null };
    return pageOf(query, this.cursors, {
      scope: { list: 'audit-log', accountId, ...filters },
      read: (limit, before) => this.read(accountId, filters, limit, before),
      positionOf: (row) => ({ at: row.at, id: row.entry_id }),
      view: entryView,
    });
  }

  private read(
    accountId: string,
    { by, since, until }: { by: string | null; since: string | null; until: string | null },
    limit: number,
    before: ListPosition | undefined,
  ): Promise<Row[]> {
    return this.database.query(
      `SELECT l.entry_id, l.at, l.by_kind, l.by_id, coalesce(m.email, k.name) AS by_name, l.method, l.route, l.path,
         l.body_keys, l.status, l.request_id, l.network_address
       FROM audit_log l
         LEFT JOIN members m ON l.by_kind = 'member' AND m.member_id = l.by_id
         LEFT JOIN api_keys k ON l.by_kind = 'key' AND k.key_id = l.by_id
       WHERE l.account_id = $1 AND l.at >= now() - interval '${AUDIT_KEPT_DAYS} days' AND ($2::uuid IS NULL OR l.by_id = $2)
         AND ($3::timestamptz IS NULL OR l.at >= $3) AND ($4::timestamptz IS NULL OR l.at < $4)
         AND ($5::timestamptz IS NULL OR (l.at, l.entry_id) < ($5, $6::uuid))
       ORDER BY l.at DESC, l.entry_id DESC LIMIT $7`,
      [accountId, by, since, until, before?.at ?? null, before?.id ?? null, limit],
    );
  }
}

function entryView(row: Row) {
  return {
    id: row.entry_id,
    at: isoOf(row.at),
    by: { kind: row.by_kind, id: row.by_id, name: row.by_name },
    method: row.method,
    route: row.route,
    path: row.path,
    bodyKeys: row.body_keys,
    status: row.status,
    requestId: row.request_id,
    networkAddress: row.network_address,
  };
}
