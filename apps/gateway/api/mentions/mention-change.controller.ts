import { create } from '@bufbuild/protobuf';
import { Body, Controller, Param, Patch } from '@nestjs/common';
import type { MentionRow } from '#clickhouse';
import { ChangeMentionSchema } from '#contracts';
import { newId, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { pathId } from '../../http/path-id.js';
import { MentionReads } from '../../reads/mention-reads.js';
import { MentionChangeDto } from './mention-change.dto.js';
import { mentionView } from './mention-view.js';

/** Labels mentions, and corrects their analysis. The stored event never changes. */
@Controller()
export class MentionChangeController {
  constructor(
    private readonly commands: CommandClient,
    private readonly mentions: MentionReads,
  ) {}

  @Patch('v1/mentions/:id')
  async change(@From() { accountId }: Caller, @Param('id') id: string, @Body() raw: unknown) {
    const { labels, sentiment, intent, relevance } = readBody(MentionChangeDto, raw, 'snake');
    const mentionId = pathId(id, 'mention');
    const command = create(ChangeMentionSchema, {
      commandId: newId(),
      accountId,
      mentionId,
      ...(labels === undefined ? {} : { labels: { labels: labels ?? [] } }),
      ...(sentiment === undefined ? {} : { sentiment: sentiment ?? '' }),
      ...(intent === undefined ? {} : { intent: intent ?? '' }),
      ...(relevance === undefined ? {} : { relevance: relevance ?? -1 }),
    });
    await this.mention(accountId, mentionId);
    await this.commands.request(COMMANDS.changeMention, command);
    return mentionView(await this.mention(accountId, mentionId));
  }

  private async mention(accountId: string, id: string): Promise<MentionRow> {
    const row = await this.mentions.mention(accountId, id);
    if (!row) throw Refusal.notFound('mention');
    return row;
  }
}
