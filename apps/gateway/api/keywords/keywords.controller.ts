import { create } from '@bufbuild/protobuf';
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { CreateKeywordSchema, RetireKeywordSchema, SOURCE_IDS } from '#contracts';
import { newId, Refusal } from '#kernel';
import { COMMANDS, type Bus } from '#messaging';
import { BUS } from '#platform';
import { ApiKeyGuard, From } from '../../auth/api-key.guard.js';
import type { Caller } from '../../auth/api-keys.js';
import { SOURCES } from '../../config.js';
import { readBody } from '../../http/body.js';
import { send } from '../../http/commands.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { definitionOf } from './definition.js';
import { KeywordBodyDto, READ_ONLY_KEYS } from './keyword-body.dto.js';
import { keywordFaults, type Sources } from './keyword-faults.js';
import { keywordView } from './keyword-view.js';

const STATES = ['active', 'paused', 'retired'] as const;

/** Keywords, under both of their names. */
@Controller()
@UseGuards(ApiKeyGuard)
export class KeywordsController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(SOURCES) private readonly sources: Sources,
    private readonly reads: KeywordReads,
    private readonly cursors: Cursors,
  ) {}

  @Post('v1/keywords')
  createKeyword(@From() caller: Caller, @Body() raw: unknown) {
    return this.create(
      caller,
      readBody(KeywordBodyDto, raw, 'any', (body) => keywordFaults(body, this.sources)),
    );
  }

  /** camelCase alone; the read-only keys of a keyword that was read are passed over. */
  @Post('v1/queries')
  createQuery(@From() caller: Caller, @Body() raw: unknown) {
    const body = withoutReadOnlyKeys(raw);
    return this.create(
      caller,
      readBody(KeywordBodyDto, body, 'camel', (one) => keywordFaults(one, this.sources)),
    );
  }

  @Get(['v1/keywords', 'v1/queries'])
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const filter = {
      states: query.all('state', STATES),
      sources: query.all('source', SOURCE_IDS),
      name: query.one('q'),
    };
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'keywords', accountId, filter };
    const before = cursor === undefined ? undefined : this.cursors.read<{ id: string }>(scope, cursor).id;
    const found = await this.reads.keywords(accountId, filter, limit, before);
    const page = found.slice(0, limit);
    const watches = await this.reads.watchesOfKeywords(page.map((keyword) => keyword.keywordId));
    const last = page.at(-1);
    return {
      data: page.map((keyword) => keywordView(keyword, watches.get(keyword.keywordId) ?? [])),
      ...(found.length > limit && last
        ? { nextCursor: this.cursors.write(scope, { id: last.keywordId }) }
        : {}),
    };
  }

  @Get(['v1/keywords/:id', 'v1/queries/:id'])
  read(@From() { accountId }: Caller, @Param('id') id: string) {
    return this.view(accountId, id);
  }

  /** Retires the keyword; with `purge=true` deletes it and its events outright. */
  @Delete(['v1/keywords/:id', 'v1/queries/:id'])
  @HttpCode(204)
  async remove(
    @From() { accountId }: Caller,
    @Param('id') id: string,
    @Query() raw: RawQuery,
  ): Promise<void> {
    const query = new QueryReader(raw);
    const purge = query.boolean('purge');
    query.finish();
    const keywordId = pathId(id, 'keyword');
    await send(
      this.bus,
      COMMANDS.retireKeyword,
      create(RetireKeywordSchema, { commandId: newId(), accountId, keywordId, purge }),
    );
  }

  private async create({ accountId }: Caller, body: KeywordBodyDto) {
    const { id } = await send(
      this.bus,
      COMMANDS.createKeyword,
      create(CreateKeywordSchema, { commandId: newId(), accountId, definition: definitionOf(body) }),
    );
    return this.view(accountId, id);
  }

  private async view(accountId: string, id: string) {
    const keyword = await this.reads.keyword(accountId, pathId(id, 'keyword'));
    if (!keyword) throw Refusal.notFound('keyword');
    const watches = await this.reads.watchesOfKeywords([keyword.keywordId]);
    return keywordView(keyword, watches.get(keyword.keywordId) ?? []);
  }
}

function withoutReadOnlyKeys(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const readOnly: readonly string[] = READ_ONLY_KEYS;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !readOnly.includes(key)));
}
