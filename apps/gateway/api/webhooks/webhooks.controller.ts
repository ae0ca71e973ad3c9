import { create } from '@bufbuild/protobuf';
import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { TestWebhookSchema } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { CommandClient } from '#transport';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { readBody } from '../../http/body.js';
import { CommandId } from '../../http/command-id.js';
import { WebhookAddresses } from '../../http/webhook-address.js';
import { WebhookTestBodyDto } from './webhook-test-body.dto.js';

/** The receiver has 10 s to answer. */
const TIMEOUT_MS = 15_000;
const DEFAULT_TYPE = 'hn_item.created';

/** Tests webhooks. Free. */
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly commands: CommandClient,
    private readonly webhooks: WebhookAddresses,
  ) {}

  /** Sends a signed sample event. Returns the request, and the status of the response. */
  @Post('test')
  @HttpCode(200)
  async test(
    @From() { accountId }: Caller,
    @CommandId() commandId: string,
    @Body() raw: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { url, type = DEFAULT_TYPE } = readBody(WebhookTestBodyDto, raw, 'snake', (one) => [
      () => this.webhooks.faults(one.url, 'url'),
    ]);
    const command = create(TestWebhookSchema, { commandId, accountId, url, type });
    const tested = await this.commands
      .request(COMMANDS.testWebhook, command, TIMEOUT_MS)
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
      requestHeaders: tested.requestHeaders,
      requestBody: tested.requestBody,
    };
  }
}
