import { create } from '@bufbuild/protobuf';
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  ChangeChannelSchema,
  CHANNEL_KINDS,
  CreateChannelSchema,
  DeleteChannelSchema,
  EnableChannelSchema,
  TestChannelSchema,
  type ChannelKind,
} from '#contracts';
import { isoOf, newId, Refusal, type Fault } from '#kernel';
import { COMMANDS } from '#messaging';
import { SecretBox } from '#secrets';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { HAS_MAIL } from '../../config.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import {
  CHANNEL_STATES,
  ChannelReads,
  type ChannelPosition,
  type ChannelRow,
} from '../../reads/channel-reads.js';
import { ChannelBodyDto, ChannelChangeDto, isMasked, type ChannelConfigDto } from './channel-body.dto.js';
import { configFaults, configView, storedConfig } from './channel-config.js';

/**
 * How long the gateway waits for the test of a channel. Delivery answers after at most 15 s, even if
 * the mail server has not answered then.
 */
const TIMEOUT_MS = 20_000;

/** The routes of channels. Free. */
@Controller('v1/channels')
export class ChannelsController {
  constructor(
    private readonly commands: CommandClient,
    private readonly reads: ChannelReads,
    private readonly cursors: Cursors,
    private readonly webhooks: WebhookAddresses,
    private readonly box: SecretBox,
    @Inject(HAS_MAIL) private readonly hasMail: boolean,
  ) {}

  @Post()
  @HttpCode(201)
  async create(@From() { accountId }: Caller, @CommandId() commandId: string, @Body() raw: unknown) {
    const { kind, name, config } = readBody(ChannelBodyDto, raw, 'snake', (body) => [
      () => this.kindFaults(body.kind),
      () => configFaults(body.kind, body.config),
      () => this.urlFaults(body.config),
    ]);
    const { id } = await this.commands.request(
      COMMANDS.createChannel,
      create(CreateChannelSchema, {
        commandId,
        accountId,
        kind,
        name,
        config: storedConfig(kind, config, this.box),
      }),
    );
    return this.view(accountId, id);
  }

  @Get()
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const kind = query.one('kind', CHANNEL_KINDS) ?? null;
    const state = query.one('state', CHANNEL_STATES) ?? null;
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'channels', accountId, kind, state };
    const before = cursor === undefined ? undefined : this.cursors.read<ChannelPosition>(scope, cursor);
    const found = await this.reads.channels(accountId, { kind, state }, limit, before);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map(channelView),
      ...(last
        ? { nextCursor: this.cursors.write(scope, { at: isoOf(last.created_at), id: last.channel_id }) }
        : {}),
    };
  }

  @Get(':id')
  read(@From() { accountId }: Caller, @Param('id') id: string) {
    return this.view(accountId, pathId(id, 'channel'));
  }

  /** Changes the name, replaces the config, or both. */
  @Patch(':id')
  async change(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
    @Body() raw: unknown,
  ) {
    const before = await this.channel(accountId, pathId(given, 'channel'));
    const { kind, channel_id: channelId } = before;
    const { name, config } = readBody(ChannelChangeDto, raw, 'snake', (body) => [
      () => (body.config ? configFaults(kind, body.config, before) : []),
      () => (body.config ? this.urlFaults(body.config) : []),
    ]);
    await this.commands.request(
      COMMANDS.changeChannel,
      create(ChangeChannelSchema, {
        commandId,
        accountId,
        channelId,
        ...(name !== undefined && { name }),
        ...(config && { config: storedConfig(kind, config, this.box, before) }),
      }),
    );
    return this.view(accountId, channelId);
  }

  /** Deletes a channel. Keywords that use the channel keep its id, but send nothing to it any more. */
  @Delete(':id')
  @HttpCode(204)
  async delete(@From() { accountId }: Caller, @Param('id') given: string): Promise<void> {
    const { channel_id: channelId } = await this.channel(accountId, pathId(given, 'channel'));
    const command = create(DeleteChannelSchema, { commandId: newId(), accountId, channelId });
    await this.commands.request(COMMANDS.deleteChannel, command);
  }

  /** Enables a disabled channel. Does not change a channel that is not disabled. */
  @Post(':id/enable')
  @HttpCode(200)
  async enable(@From() { accountId }: Caller, @CommandId() commandId: string, @Param('id') given: string) {
    const { channel_id: channelId } = await this.channel(accountId, pathId(given, 'channel'));
    const command = create(EnableChannelSchema, { commandId, accountId, channelId });
    await this.commands.request(COMMANDS.enableChannel, command);
    return this.view(accountId, channelId);
  }

  /**
   * Sends a sample message, and returns the outcome. An email address that is not verified gets its verification again
   * instead.
   */
  @Post(':id/test')
  @HttpCode(200)
  async test(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Param('id') given: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { channel_id: channelId } = await this.channel(accountId, pathId(given, 'channel'));
    const command = create(TestChannelSchema, { commandId, accountId, channelId });
    const tested = await this.commands
      .request(COMMANDS.testChannel, command, TIMEOUT_MS)
      .catch((error: unknown) => {
        if (error instanceof Refusal && error.kind === 'too-many')
          reply.header('retry-after', 60 - Math.floor((Date.now() / 1000) % 60));
        throw error;
      });
    return {
      delivered: tested.delivered,
      statusCode: tested.statusCode || null,
      durationMs: tested.durationMs,
      message: tested.message,
    };
  }

  private kindFaults(kind: ChannelKind): Fault[] {
    return kind === 'email' && !this.hasMail
      ? [{ path: 'kind', message: 'email needs a mail server, and this installation has none: set SMTP_URL' }]
      : [];
  }

  private urlFaults({ webhookUrl, url }: ChannelConfigDto): Fault[] {
    return [
      ...(isMasked(webhookUrl) ? [] : this.webhooks.faults(webhookUrl, 'config.webhookUrl')),
      ...this.webhooks.faults(url, 'config.url'),
    ];
  }

  private async channel(accountId: string, id: string): Promise<ChannelRow> {
    const row = await this.reads.channel(accountId, id);
    if (!row) throw Refusal.notFound('channel');
    return row;
  }

  private async view(accountId: string, id: string) {
    return channelView(await this.channel(accountId, id));
  }
}

function channelView(row: ChannelRow) {
  return {
    id: row.channel_id,
    kind: row.kind,
    name: row.name,
    config: configView(row),
    state: row.state,
    addresses: row.addresses.map((address) => ({
      address,
      state: row.address_states?.[address] ?? 'unverified',
    })),
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at && isoOf(row.disabled_at),
    createdAt: isoOf(row.created_at),
    updatedAt: isoOf(row.updated_at),
  };
}
