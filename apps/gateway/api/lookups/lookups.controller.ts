import type { JsonObject } from '@bufbuild/protobuf';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { SourceId } from '#contracts';
import { Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { LookupClient } from './lookup-client.js';
import { TweetIdsDto, tweetIdsOf } from './tweet-ids.dto.js';

const MAX_REF_LENGTH = 64;

/**
 * The routes of direct lookups in the upstreams. A lookup that an upstream has answered costs credits, even if the
 * upstream answered that the object does not exist (404). A lookup costs nothing if Earshot cannot read the answer, or
 * if the answer comes too late.
 */
@Controller()
export class LookupsController {
  constructor(
    private readonly client: LookupClient,
    private readonly cursors: Cursors,
  ) {}

  @Get('v1/x/tweets')
  tweets(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const ids = query.all('ids').flatMap((text) => text.split(',').map((id) => id.trim()));
    query.finish();
    return this.lookUpTweets(accountId, tweetIdsOf(ids));
  }

  @Post('v1/x/tweets/lookup')
  @HttpCode(200)
  postedTweets(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const { ids } = readBody(TweetIdsDto, raw);
    return this.lookUpTweets(accountId, tweetIdsOf(ids), commandId);
  }

  @Get('v1/x/users/:ref')
  async user(@From() { accountId }: Caller, @Param('ref') ref: string, @Query() raw: RawQuery) {
    new QueryReader(raw).finish();
    const { body, cost } = await this.client.ask(accountId, 'x', 'user', { ref: refOf(ref, 'user') });
    return { data: body['user'], meta: { credits_used: cost } };
  }

  @Get('v1/x/users/:ref/tweets')
  userTweets(@From() caller: Caller, @Param('ref') ref: string, @Query() raw: RawQuery) {
    return this.page(caller, 'x', 'userTweets', { ref: refOf(ref, 'user') }, raw);
  }

  @Get('v1/x/users/:ref/followers')
  followers(@From() caller: Caller, @Param('ref') ref: string, @Query() raw: RawQuery) {
    return this.page(caller, 'x', 'followers', { ref: refOf(ref, 'user') }, raw);
  }

  @Get('v1/x/users/:ref/following')
  following(@From() caller: Caller, @Param('ref') ref: string, @Query() raw: RawQuery) {
    return this.page(caller, 'x', 'following', { ref: refOf(ref, 'user') }, raw);
  }

  @Get('v1/youtube/videos/:id/comments')
  comments(@From() caller: Caller, @Param('id') id: string, @Query() raw: RawQuery) {
    return this.page(caller, 'youtube', 'videoComments', { videoId: refOf(id, 'video') }, raw);
  }

  @Get('v1/reddit/users/:username/moderated')
  async moderated(
    @From() { accountId }: Caller,
    @Param('username') username: string,
    @Query() raw: RawQuery,
  ) {
    new QueryReader(raw).finish();
    const question = { username: refOf(username, 'user') };
    const { body, cost } = await this.client.ask(accountId, 'reddit', 'moderated', question);
    return { ...body, meta: { credits_used: cost } };
  }

  private async lookUpTweets(accountId: string, ids: string[], commandId?: string) {
    const { body, cost } = await this.client.ask(accountId, 'x', 'tweets', { ids }, commandId);
    const data = body['data'] as JsonObject[];
    return {
      meta: { requested: ids.length, found: data.length, credits_used: cost },
      data,
      errors: body['errors'],
    };
  }

  /** Returns one page of a list. The signed cursor of the response contains the cursor of the upstream. */
  private async page(
    { accountId }: Caller,
    source: SourceId,
    operation: string,
    question: JsonObject,
    raw: RawQuery,
  ) {
    const query = new QueryReader(raw);
    const given = query.one('cursor');
    query.finish();
    const scope = { list: `${source}.${operation}`, accountId, question };
    const cursor = given === undefined ? undefined : this.cursors.read<string>(scope, given);
    const paged = cursor === undefined ? question : { ...question, cursor };
    const { body, cost } = await this.client.ask(accountId, source, operation, paged);
    const { nextCursor, ...found } = body;
    return {
      ...found,
      ...(nextCursor === undefined ? {} : { nextCursor: this.cursors.write(scope, nextCursor) }),
      meta: { credits_used: cost },
    };
  }
}

/** Returns the user name or video id. @throws Refusal `not-found` if the text is too long for any name or id */
function refOf(text: string, what: string): string {
  if (text.length > MAX_REF_LENGTH) throw Refusal.notFound(what);
  return text;
}
