import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import {
  AgentStepSchema,
  ChangeWatchSchema,
  CreateWatchSchema,
  isSourceId,
  RetireWatchSchema,
  type SourceId,
} from '#contracts';
import { isoOf, newId, Refusal, type Fault } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { HAS_MODEL, SOURCES } from '../../config.js';
import { inSpellingOf, readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import { KeywordReads, type WatchRead } from '../../reads/keyword-reads.js';
import { agentStepView, criteriaView } from '../keywords/definition.js';
import {
  criteriaOf,
  searchFaults,
  termFaults,
  unavailability,
  type Sources,
} from '../keywords/keyword-faults.js';
import { watchModelFaults } from '../keywords/model-faults.js';
import { WatchBodyDto, WatchChangeDto } from './watch-body.dto.js';

/** Returns the criteria with their market. A body can contain the market beside the criteria or inside them. */
function withMarket({ market, criteria }: WatchBodyDto) {
  return { ...criteria, market: market ?? criteria.market ?? DEFAULT_MARKET };
}

function marketFaults({ market, criteria }: WatchBodyDto): Fault[] {
  const inside = criteria.market;
  if (market === undefined || inside === undefined || market === inside) return [];
  return [
    { path: 'market', message: `differs from the market in criteria ("${inside}"); give only one of them` },
  ];
}

/** The market of a watch whose body contains no market. */
const DEFAULT_MARKET = 'global';

/**
 * The routes of watches. A watch polls one search on one source. The lists contain the watches of keywords too, but
 * these change only with their keyword.
 */
@Controller('v1/:source/watches')
export class WatchesController {
  constructor(
    private readonly commands: CommandClient,
    @Inject(SOURCES) private readonly sources: Sources,
    private readonly reads: KeywordReads,
    private readonly cursors: Cursors,
    private readonly webhooks: WebhookAddresses,
    @Inject(HAS_MODEL) private readonly hasModel: boolean,
  ) {}

  @Post()
  async create(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('source') name: string,
    @Body() raw: unknown,
  ) {
    const source = sourceOf(name);
    const unavailable = unavailability(source, this.sources);
    const body = readBody(WatchBodyDto, raw, 'snake', (one) => [
      () => (unavailable ? [{ path: 'source', message: unavailable }] : []),
      () => termFaults(one.criteria, 'criteria'),
      () => marketFaults(one),
      () => this.webhooks.faults(one.webhookUrl),
      () => watchModelFaults(one, this.hasModel),
      () =>
        searchFaults(source, criteriaOf(withMarket(one)), 'criteria', this.sources).map((fault) =>
          fault.path === 'criteria.market' && one.criteria.market === undefined
            ? { ...fault, path: 'market' }
            : fault,
        ),
    ]);
    const command = create(CreateWatchSchema, {
      commandId,
      accountId,
      source,
      criteria: criteriaOf(withMarket(body)),
      intervalSeconds: body.refreshIntervalSeconds,
      webhookUrl: body.webhookUrl || undefined,
      ai: body.ai ? fromJson(AgentStepSchema, JSON.parse(JSON.stringify(body.ai)) as JsonValue) : undefined,
      analysis: body.analysis ?? false,
      backfill: body.backfill ?? false,
    });
    const { id } = await inSpellingOf(raw, () => this.commands.request(COMMANDS.createWatch, command));
    return this.view(accountId, source, id);
  }

  @Get()
  async list(@From() { accountId }: Caller, @Param('source') name: string, @Query() raw: RawQuery) {
    const source = sourceOf(name);
    const query = new QueryReader(raw);
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'watches', accountId, source };
    const before = cursor === undefined ? undefined : this.cursors.read<{ id: string }>(scope, cursor).id;
    const found = await this.reads.watches(accountId, source, limit, before);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      watches: page.map(watchView),
      ...(found.length > limit && last
        ? { nextCursor: this.cursors.write(scope, { id: last.watch.watchId }) }
        : {}),
    };
  }

  @Get(':id')
  read(@From() { accountId }: Caller, @Param('source') source: string, @Param('id') id: string) {
    return this.view(accountId, sourceOf(source), id);
  }

  @Patch(':id')
  async change(
    @From() { accountId }: Caller,
    @Param('source') name: string,
    @Param('id') id: string,
    @Body() raw: unknown,
  ) {
    const source = sourceOf(name);
    const body = readBody(WatchChangeDto, raw, 'snake', ({ webhookUrl }) => [
      () => this.webhooks.faults(webhookUrl),
    ]);
    await this.view(accountId, source, id);
    const command = create(ChangeWatchSchema, {
      commandId: newId(),
      accountId,
      watchId: pathId(id, 'watch'),
      intervalSeconds: body.refreshIntervalSeconds,
      webhookUrl: body.webhookUrl === null ? '' : body.webhookUrl,
      isActive: body.isActive,
    });
    await inSpellingOf(raw, () => this.commands.request(COMMANDS.changeWatch, command));
    return this.view(accountId, source, id);
  }

  /** Retires a lone watch: its checks end. Its events stay readable until their retention ends. */
  @Delete(':id')
  @HttpCode(204)
  async remove(
    @From() { accountId }: Caller,
    @Param('source') source: string,
    @Param('id') id: string,
  ): Promise<void> {
    await this.view(accountId, sourceOf(source), id);
    await this.commands.request(
      COMMANDS.retireWatch,
      create(RetireWatchSchema, { commandId: newId(), accountId, watchId: pathId(id, 'watch') }),
    );
  }

  private async view(accountId: string, source: SourceId, id: string) {
    const read = await this.reads.watch(accountId, source, pathId(id, 'watch'));
    // A retired lone watch is not found, although its events can be listed.
    if (!read || (read.watch.retiredAt && !read.watch.keywordId)) throw Refusal.notFound('watch');
    return watchView(read);
  }
}

/** Returns the name as the id of a source. @throws Refusal `not-found` if no source has this name */
export function sourceOf(name: string): SourceId {
  if (!isSourceId(name)) throw Refusal.notFound(`source ${name}`);
  return name;
}

function watchView({ watch, lastCheckedAt, lastStatus }: WatchRead) {
  return {
    id: watch.watchId,
    accountId: watch.accountId,
    keywordId: watch.keywordId,
    source: watch.source,
    market: watch.criteria.market ?? DEFAULT_MARKET,
    criteria: criteriaView(watch.criteria),
    criteriaHash: watch.criteriaHash,
    refreshIntervalSeconds: watch.intervalSeconds,
    webhookUrl: watch.webhookUrl,
    ai: agentStepView(watch.ai ?? undefined),
    analysis: watch.analysis,
    backfill: watch.backfill,
    billingMode: 'subscription',
    isActive: watch.isActive,
    pausedReason: watch.pausedReason,
    createdAt: isoOf(watch.createdAt),
    updatedAt: isoOf(watch.updatedAt),
    lastCheckedAt,
    lastStatus,
  };
}
