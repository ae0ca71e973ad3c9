import { create } from '@bufbuild/protobuf';
import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { EnableEndpointSchema } from '#contracts';
import { isoOf, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { EndpointReads, type EndpointRow } from '../../reads/endpoint-reads.js';
import { EnableBodyDto } from './enable-body.dto.js';

/** The routes of the webhook addresses of an account, and of their state. Free. */
@Controller('v1/endpoints')
export class EndpointsController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: EndpointReads,
    private readonly cursors: Cursors,
  ) {}

  @Get()
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'endpoints', accountId };
    const after = cursor === undefined ? '' : this.cursors.read<{ url: string }>(scope, cursor).url;
    const found = await this.reads.endpoints(accountId, limit, after);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map(endpointView),
      ...(last ? { nextCursor: this.cursors.write(scope, { url: last.url }) } : {}),
    };
  }

  /** Enables deliveries to the endpoint again. Changes nothing if the endpoint is not disabled. */
  @Post('enable')
  @HttpCode(200)
  async enable(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const { url } = readBody(EnableBodyDto, raw, 'snake');
    const endpoint = await this.reads.endpoint(accountId, url);
    if (!endpoint) throw Refusal.notFound('endpoint');
    await this.commands.request(
      COMMANDS.enableEndpoint,
      create(EnableEndpointSchema, { commandId, accountId, url }),
    );
    // An address that no keyword and no watch uses, for example the address of a replay, is listed only while it fails or
    // is disabled. So this second read does not always find the address.
    return endpointView((await this.reads.endpoint(accountId, url)) ?? { ...endpoint, ...HEALTHY });
  }
}

const HEALTHY = {
  failing_since: null,
  failures: 0,
  last_status_code: null,
  disabled_at: null,
  disabled_reason: null,
};

function endpointView(row: EndpointRow) {
  return {
    url: row.url,
    state: row.disabled_at ? 'disabled' : row.failing_since ? 'failing' : 'healthy',
    failingSince: row.failing_since && isoOf(row.failing_since),
    failures: row.failures,
    lastStatusCode: row.last_status_code || null,
    disabledAt: row.disabled_at && isoOf(row.disabled_at),
    disabledReason: row.disabled_reason,
    waiting: row.waiting,
    keywordIds: row.keyword_ids,
    watchIds: row.watch_ids,
  };
}
