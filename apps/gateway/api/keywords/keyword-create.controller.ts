import { create } from '@bufbuild/protobuf';
import { Body, Controller, Headers, HttpCode, Post, Query } from '@nestjs/common';
import { CreateKeywordSchema, EstimateKeywordSchema, type KeywordDefinition } from '#contracts';
import { Refusal, systemClock } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import { From } from '../../auth/caller.js';
import type { Caller } from '../../auth/api-keys.js';
import { inSpellingOf, spelledAs, type Spelling } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { refusedEstimate } from '../../http/refused-estimate.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { EstimateTokens } from './estimate-tokens.js';
import { KeywordInput, withoutReadOnlyKeys } from './keyword-input.js';
import { KeywordViews } from './keyword-views.js';

/**
 * Estimates the cost of a keyword or of its change, and creates keywords. An estimate makes the same checks as the
 * create or the change.
 */
@Controller()
export class KeywordCreateController {
  constructor(
    private readonly commands: CommandClient,
    private readonly input: KeywordInput,
    private readonly tokens: EstimateTokens,
    private readonly reads: KeywordReads,
    private readonly views: KeywordViews,
  ) {}

  @Post('v1/keywords/estimate')
  @HttpCode(200)
  estimateKeyword(@From() caller: Caller, @Query() query: RawQuery, @Body() raw: unknown) {
    return this.estimate(caller, query, raw, 'any');
  }

  @Post('v1/queries/estimate')
  @HttpCode(200)
  estimateQuery(@From() caller: Caller, @Query() query: RawQuery, @Body() raw: unknown) {
    return this.estimate(caller, query, withoutReadOnlyKeys(raw), 'camel');
  }

  @Post('v1/keywords')
  createKeyword(
    @From() caller: Caller,
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Headers('service-estimate-token') token: string | undefined,
  ) {
    return this.create(caller, commandId, raw, 'any', token);
  }

  /** Accepts camelCase only, and ignores the read-only keys of a keyword. */
  @Post('v1/queries')
  createQuery(
    @From() caller: Caller,
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Headers('service-estimate-token') token: string | undefined,
  ) {
    return this.create(caller, commandId, withoutReadOnlyKeys(raw), 'camel', token);
  }

  /**
   * Estimates a body. If the create or the change would be refused, the result contains the refusal.
   * @throws Refusal `invalid` for a faulty query parameter, `not-found` if the account does not have the keyword of the
   *   parameter `keyword`; other errors, such as outages, as they are
   */
  private async estimate({ accountId }: Caller, rawQuery: RawQuery, raw: unknown, spelling: Spelling) {
    const query = new QueryReader(rawQuery);
    const keywordId = query.id('keyword');
    query.finish();
    const changed = keywordId === undefined ? undefined : await this.reads.keyword(accountId, keywordId);
    if (keywordId !== undefined && !changed) throw Refusal.notFound('keyword');
    try {
      const definition = changed
        ? this.input.change(raw, spelling, changed.definition)
        : this.input.whole(raw, spelling);
      const command = create(EstimateKeywordSchema, {
        accountId,
        keywordId: changed?.keywordId ?? '',
        definition,
      });
      const { estimateJson, warnings } = await inSpellingOf(raw, () =>
        this.commands.request(COMMANDS.estimateKeyword, command),
      );
      const token = this.tokens.issue(accountId, raw, systemClock.now(), changed?.keywordId);
      const estimate = JSON.parse(estimateJson) as object;
      return { valid: true, estimate, ...token, warnings: spelledAs(raw, warnings) };
    } catch (error) {
      return refusedEstimate(error);
    }
  }

  private async create(
    { accountId }: Caller,
    commandId: string,
    raw: unknown,
    spelling: Spelling,
    token: string | undefined,
  ) {
    const definition: KeywordDefinition = this.input.whole(raw, spelling);
    this.tokens.check(accountId, raw, token, systemClock.now());
    const command = create(CreateKeywordSchema, { commandId, accountId, definition });
    const { id, warnings } = await inSpellingOf(raw, () =>
      this.commands.request(COMMANDS.createKeyword, command),
    );
    return { ...(await this.views.of(accountId, id)), warnings: spelledAs(raw, warnings) };
  }
}
