import { create } from '@bufbuild/protobuf';
import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { RotateFeedSchema } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { CommandId } from '../../http/command-id.js';
import { pathId } from '../../http/path-id.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { FeedAddresses } from './feed-addresses.js';

/** The secret addresses of a keyword's feeds. */
@Controller()
export class FeedsController {
  constructor(
    private readonly commands: CommandClient,
    private readonly keywords: KeywordReads,
    private readonly addresses: FeedAddresses,
  ) {}

  @Get(['v1/keywords/:id/feed', 'v1/queries/:id/feed'])
  async read(@From() { accountId }: Caller, @Param('id') id: string, @Req() request: FastifyRequest) {
    return this.view(accountId, pathId(id, 'keyword'), request);
  }

  /** Replaces the addresses. The previous addresses then return 404. */
  @Post(['v1/keywords/:id/feed/rotate', 'v1/queries/:id/feed/rotate'])
  @HttpCode(200)
  async rotate(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ) {
    const keywordId = pathId(id, 'keyword');
    const command = create(RotateFeedSchema, { commandId, accountId, keywordId });
    await this.commands.request(COMMANDS.rotateFeed, command);
    return this.view(accountId, keywordId, request);
  }

  private async view(accountId: string, keywordId: string, request: FastifyRequest) {
    const keyword = await this.keywords.keyword(accountId, keywordId);
    if (!keyword) throw Refusal.notFound('keyword');
    const secret = this.addresses.secretOf(keyword);
    const urlOf = (format: string) => this.addresses.urlOf(`${secret}.${format}`, request);
    return { atomUrl: urlOf('xml'), jsonUrl: urlOf('json') };
  }
}
