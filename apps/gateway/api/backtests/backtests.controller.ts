import { create, type JsonObject } from '@bufbuild/protobuf';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ReadBacktestSchema, RunBacktestSchema } from '#contracts';
import { instantIn, isoOf, newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody, type Spelling } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { LONG_ANSWER_MS, LongAnswer } from '../../http/long-answer.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { KeywordInput } from '../keywords/keyword-input.js';
import { BacktestBodyDto, changesOf } from './backtest-body.dto.js';

const DEFAULT_WINDOW_MS = 30 * 86_400_000;

interface ItemsCursor {
  at: string;
  id: string;
}

/**
 * Shows what a keyword would have done with its stored mentions if its rules, mutes, VIPs, spike alert or minimum
 * relevance were different. A backtest is free, and changes neither the keyword nor its mentions.
 */
@Controller()
export class BacktestsController {
  constructor(
    private readonly commands: CommandClient,
    private readonly keywords: KeywordReads,
    private readonly input: KeywordInput,
    private readonly cursors: Cursors,
  ) {}

  @Post('v1/keywords/:id/backtest')
  @HttpCode(200)
  @LongAnswer()
  backtestKeyword(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') id: string,
    @Body() raw: unknown,
  ) {
    return this.run(accountId, commandId, id, raw, 'snake');
  }

  /** Accepts camelCase only. */
  @Post('v1/queries/:id/backtest')
  @HttpCode(200)
  @LongAnswer()
  backtestQuery(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') id: string,
    @Body() raw: unknown,
  ) {
    return this.run(accountId, commandId, id, raw, 'camel');
  }

  private async run(accountId: string, commandId: string, given: string, raw: unknown, spelling: Spelling) {
    const keywordId = pathId(given, 'keyword');
    const keyword = await this.keywords.keyword(accountId, keywordId);
    if (!keyword) throw Refusal.notFound('keyword');
    const body = readBody(BacktestBodyDto, raw ?? {}, spelling);
    const since = body.since === undefined ? Date.now() - DEFAULT_WINDOW_MS : instantIn(body.since, 'UTC');
    if (since > Date.now())
      throw Refusal.validation([{ path: 'since', message: 'must not be in the future' }]);
    const definition = this.input.change(changesOf(body), 'camel', keyword.definition);
    const command = create(RunBacktestSchema, {
      commandId,
      accountId,
      keywordId,
      definition,
      since: isoOf(since),
    });
    // This is enough for one large backtest that first waits for another large backtest. If many backtests wait, a
    // request can end with 503.
    const { bodyJson } = await this.commands.request(COMMANDS.runBacktest, command, LONG_ANSWER_MS);
    return { id: commandId, ...(JSON.parse(bodyJson) as JsonObject) };
  }

  @Get(['v1/keywords/:id/backtest/:backtest/items', 'v1/queries/:id/backtest/:backtest/items'])
  async items(
    @From() { accountId }: Caller,
    @Param('id') givenKeyword: string,
    @Param('backtest') given: string,
    @Query() raw: RawQuery,
  ) {
    const keywordId = pathId(givenKeyword, 'keyword');
    const backtestId = pathId(given, 'backtest');
    const query = new QueryReader(raw);
    const limit = query.integer('limit', 1, 200, 50);
    const onlyFired = query.boolean('fired');
    const cursor = query.one('cursor');
    query.finish();
    if (!(await this.keywords.keyword(accountId, keywordId))) throw Refusal.notFound('keyword');
    const scope = { list: 'backtest-items', accountId, backtestId, onlyFired };
    const from = cursor === undefined ? undefined : this.cursors.read<ItemsCursor>(scope, cursor);
    const page = await this.commands.request(
      COMMANDS.readBacktest,
      create(ReadBacktestSchema, {
        ...{ commandId: newId(), accountId, keywordId, backtestId, limit, onlyFired },
        ...(from && { afterAt: from.at, afterId: from.id }),
      }),
    );
    const next = page.nextId === '' ? undefined : { at: page.nextAt, id: page.nextId };
    return {
      data: JSON.parse(page.itemsJson) as JsonObject[],
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }
}
