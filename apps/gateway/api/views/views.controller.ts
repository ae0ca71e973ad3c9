import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { ViewBodyDto } from './view-body.dto.js';

/** Maximum number of saved views of one account. */
const MAX_VIEWS = 200;

interface ViewRow {
  id: string;
  name: string;
  query: string;
  createdBy: string | null;
  createdAt: Date;
}

/**
 * The routes of saved views: filters of the dashboard’s page `/feed`. All members of the account see the views. Views
 * are settings of the dashboard, not facts, so they have no stream.
 */
@Controller('v1/views')
export class ViewsController {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  @Get()
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    new QueryReader(raw).finish();
    const rows = await this.database.query<ViewRow[]>(
      `SELECT view_id AS id, name, query, created_by AS "createdBy", created_at AS "createdAt"
       FROM saved_views WHERE account_id = $1 ORDER BY lower(name), view_id`,
      [accountId],
    );
    return { data: rows.map(viewOf) };
  }

  @Post()
  @HttpCode(201)
  async create(@From() { accountId, by }: Caller, @Body() raw: unknown, @CommandId() viewId: string) {
    const { name, query } = readBody(ViewBodyDto, raw, 'snake');
    // One statement counts and inserts, so that parallel requests exceed the limit by at most a few views. A request
    // that is repeated with its Idempotency-Key has the same id, and returns the view that it has stored before.
    const [row] = await this.database.query<ViewRow[]>(
      `INSERT INTO saved_views (view_id, account_id, name, query, created_by)
       SELECT $1, $2, $3, $4, $5
       WHERE (SELECT count(*) FROM saved_views WHERE account_id = $2 AND view_id <> $1) < $6
       ON CONFLICT (view_id) DO UPDATE SET name = excluded.name
       RETURNING view_id AS id, name, query, created_by AS "createdBy", created_at AS "createdAt"`,
      [
        viewId,
        accountId,
        name.trim(),
        query.replace(/^\?/, ''),
        by.kind === 'member' ? by.id : null,
        MAX_VIEWS,
      ],
    );
    if (!row) throw Refusal.conflict(`the account has ${MAX_VIEWS} saved views already; delete one`);
    return viewOf(row);
  }

  @Delete(':id')
  @HttpCode(204)
  async delete(@From() { accountId }: Caller, @Param('id') given: string) {
    const deleted = await this.database.query<[unknown[], number]>(
      'DELETE FROM saved_views WHERE view_id = $1 AND account_id = $2 RETURNING view_id',
      [pathId(given, 'view'), accountId],
    );
    if (deleted[1] === 0) throw Refusal.notFound('view');
  }
}

function viewOf({ createdAt, ...view }: ViewRow) {
  return { ...view, createdAt: isoOf(createdAt) };
}
