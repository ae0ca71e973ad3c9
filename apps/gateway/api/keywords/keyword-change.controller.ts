import { create } from '@bufbuild/protobuf';
import { Body, Controller, Delete, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ChangeKeywordSchema,
  PauseKeywordSchema,
  ResumeKeywordSchema,
  RetireKeywordSchema,
  STALE_VERSION,
  type KeywordDefinition,
  type SearchReset,
} from '#contracts';
import { newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import { From } from '../../auth/caller.js';
import type { Caller } from '../../auth/api-keys.js';
import { inSpellingOf, type Spelling } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { KeywordInput } from './keyword-input.js';
import { KeywordViews } from './keyword-views.js';

/** Maximum number of attempts to apply a change. An attempt fails if the keyword changes, pauses or resumes meanwhile. */
const CHANGE_ATTEMPTS = 5;

/** Changes, pauses, resumes and deletes a keyword. */
@Controller()
export class KeywordChangeController {
  constructor(
    private readonly commands: CommandClient,
    private readonly input: KeywordInput,
    private readonly reads: KeywordReads,
    private readonly views: KeywordViews,
  ) {}

  @Patch('v1/keywords/:id')
  changeKeyword(@From() caller: Caller, @Param('id') id: string, @Body() raw: unknown) {
    return this.change(caller, id, raw, 'any');
  }

  /** Accepts camelCase only. */
  @Patch('v1/queries/:id')
  changeQuery(@From() caller: Caller, @Param('id') id: string, @Body() raw: unknown) {
    return this.change(caller, id, raw, 'camel');
  }

  /** Pauses a keyword. Changes nothing if a user has already paused the keyword. */
  @Post(['v1/keywords/:id/pause', 'v1/queries/:id/pause'])
  @HttpCode(200)
  async pause(@From() { accountId }: Caller, @CommandId() commandId: string, @Param('id') id: string) {
    const keywordId = pathId(id, 'keyword');
    const command = create(PauseKeywordSchema, { commandId, accountId, keywordId });
    await this.commands.request(COMMANDS.pauseKeyword, command);
    return this.views.of(accountId, id);
  }

  /** Resumes a keyword. Changes nothing if the keyword runs. */
  @Post(['v1/keywords/:id/resume', 'v1/queries/:id/resume'])
  @HttpCode(200)
  async resume(@From() { accountId }: Caller, @CommandId() commandId: string, @Param('id') id: string) {
    const keywordId = pathId(id, 'keyword');
    const command = create(ResumeKeywordSchema, { commandId, accountId, keywordId });
    await this.commands.request(COMMANDS.resumeKeyword, command);
    return this.views.of(accountId, id);
  }

  /** Retires the keyword: its checks end. With `purge=true`, also deletes the keyword and its events permanently. */
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
    await this.commands.request(
      COMMANDS.retireKeyword,
      create(RetireKeywordSchema, { commandId: newId(), accountId, keywordId, purge }),
    );
  }

  private async change({ accountId }: Caller, id: string, raw: unknown, spelling: Spelling) {
    for (let attempt = 1; attempt <= CHANGE_ATTEMPTS; attempt += 1) {
      const keyword = await this.reads.keyword(accountId, pathId(id, 'keyword'));
      if (!keyword) throw Refusal.notFound('keyword');
      const { keywordId, version } = keyword;
      const definition = this.input.change(raw, spelling, keyword.definition);
      const resets = await inSpellingOf(raw, () =>
        this.sendChange(accountId, keywordId, definition, version),
      );
      if (!resets) continue;
      const view = await this.views.of(accountId, id);
      return { ...view, resetSearches: resets.map((reset) => resetView(reset, definition)) };
    }
    throw Refusal.conflict('other requests keep changing the keyword; read it again and repeat the change');
  }

  /** @returns undefined if the keyword has changed since it was read */
  private async sendChange(
    accountId: string,
    keywordId: string,
    definition: KeywordDefinition,
    expectedVersion: number,
  ): Promise<SearchReset[] | undefined> {
    try {
      const { resets } = await this.commands.request(
        COMMANDS.changeKeyword,
        create(ChangeKeywordSchema, {
          commandId: newId(),
          accountId,
          keywordId,
          definition,
          expectedVersion,
        }),
      );
      return resets;
    } catch (error) {
      if (error instanceof Refusal && error.code === STALE_VERSION) return undefined;
      throw error;
    }
  }
}

function resetView(
  { source, searchId, previousWatchId, watchId }: SearchReset,
  { sources }: KeywordDefinition,
) {
  const searches = sources.find((entry) => entry.source === source)?.searches ?? [];
  const label = searches.find((search) => search.id === searchId)?.label ?? null;
  return { source, searchId: searchId || null, label, previousWatchId, watchId };
}
