import { create } from '@bufbuild/protobuf';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CancelReplaySchema, CreateReplaySchema } from '#contracts';
import { instantIn, isoOf, newId, Refusal, type Fault } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { inSpellingOf, readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import { REPLAY_STATES, ReplayReads, type ReplayPosition, type ReplayRow } from '../../reads/replay-reads.js';
import { ReplayBodyDto, DEFAULT_RATE_PER_SECOND } from './replay-body.dto.js';

/** Replays send stored events again. Free. */
@Controller('v1/replays')
export class ReplaysController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: ReplayReads,
    private readonly cursors: Cursors,
    private readonly webhooks: WebhookAddresses,
  ) {}

  @Post()
  @HttpCode(202)
  async create(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const body = readBody(ReplayBodyDto, raw, 'snake', (one) => [
      () => ownerFaults(one),
      () => this.webhooks.faults(one.url, 'url'),
    ]);
    const now = Date.now();
    const until = body.until === undefined ? now : Math.min(now, instantIn(body.until, 'UTC'));
    const { id } = await inSpellingOf(raw, () =>
      this.commands.request(
        COMMANDS.createReplay,
        create(CreateReplaySchema, {
          commandId,
          accountId,
          keywordId: body.keywordId ?? '',
          watchId: body.watchId ?? '',
          since: isoOf(instantIn(body.since, 'UTC')),
          until: isoOf(until),
          url: body.url,
          types: body.types ?? [],
          ratePerSecond: body.ratePerSecond ?? DEFAULT_RATE_PER_SECOND,
        }),
      ),
    );
    return this.view(accountId, id);
  }

  @Get()
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const status = query.one('status', REPLAY_STATES);
    const keyword = query.id('keyword');
    const watch = query.id('watch');
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const filter = { status: status ?? null, keyword: keyword ?? null, watch: watch ?? null };
    const scope = { list: 'replays', accountId, ...filter };
    const before = cursor === undefined ? undefined : this.cursors.read<ReplayPosition>(scope, cursor);
    const found = await this.reads.replays(accountId, filter, limit, before);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map(replayView),
      ...(last
        ? { nextCursor: this.cursors.write(scope, { at: isoOf(last.created_at), id: last.replay_id }) }
        : {}),
    };
  }

  @Get(':id')
  read(@From() { accountId }: Caller, @Param('id') id: string) {
    return this.view(accountId, pathId(id, 'replay'));
  }

  /** Cancels the replay. A replay that has ended does not change. */
  @Delete(':id')
  @HttpCode(204)
  async cancel(@From() { accountId }: Caller, @Param('id') given: string): Promise<void> {
    const replayId = pathId(given, 'replay');
    await this.view(accountId, replayId);
    const command = create(CancelReplaySchema, { commandId: newId(), accountId, replayId });
    await this.commands.request(COMMANDS.cancelReplay, command);
  }

  private async view(accountId: string, id: string) {
    const row = await this.reads.replay(accountId, id);
    if (!row) throw Refusal.notFound('replay');
    return replayView(row);
  }
}

function ownerFaults({ keywordId, watchId }: ReplayBodyDto): Fault[] {
  if (keywordId === undefined && watchId === undefined)
    return [{ path: 'keywordId', message: 'is required, or `watchId` instead' }];
  if (keywordId !== undefined && watchId !== undefined)
    return [{ path: 'watchId', message: 'cannot be given together with `keywordId`' }];
  return [];
}

function replayView(row: ReplayRow) {
  return {
    id: row.replay_id,
    status: row.status,
    since: isoOf(row.since),
    until: isoOf(row.until),
    keywordId: row.keyword_id,
    watchId: row.watch_id,
    url: row.url,
    types: row.types,
    ratePerSecond: row.rate_per_second,
    matched: row.matched ?? 0,
    sent: row.sent,
    failed: row.failed,
    missing: row.missing,
    message: row.message || null,
    createdAt: isoOf(row.created_at),
    finishedAt: row.finished_at && isoOf(row.finished_at),
  };
}
