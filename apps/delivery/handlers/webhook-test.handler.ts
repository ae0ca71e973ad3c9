import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { TestedWebhookSchema, type TestWebhook } from '#contracts';
import type { OutboundDispatcher } from '#http-out';
import { endpointIdOf, isoOf, Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { USER_AGENT } from '#platform';
import { currentTraceparent } from '#telemetry';
import { CommandPattern } from '#transport';
import type { AttemptResult, Delivery } from '../attempts/delivery.js';
import { addressKey, Targets } from '../attempts/targets.js';
import { TestQuota } from '../attempts/test-quota.js';
import { sendWebhook, webhookHeaders } from '../attempts/webhook-sender.js';
import { OUTBOUND } from '../config.js';
import { sampleEvent } from '../domain/sample-event.js';

/** Sends signed samples to addresses that users want to test. These attempts are not recorded. */
@Controller()
export class WebhookTestHandler {
  constructor(
    @Inject(OUTBOUND) private readonly http: OutboundDispatcher,
    private readonly targets: Targets,
    private readonly quota: TestQuota,
  ) {}

  /** @throws Refusal `not-found` if the account does not exist, `too-many` if its tests of this minute are used up */
  @CommandPattern(COMMANDS.testWebhook)
  async test({ commandId: eventId, accountId, url, type }: TestWebhook) {
    const address = { accountId, endpoint: url };
    const endpoint = (await this.targets.endpoints([address])).get(addressKey(address));
    if (!endpoint) throw Refusal.notFound('account');
    await this.quota.count(accountId);
    const now = Date.now();
    const requestBody = JSON.stringify(sampleEvent(eventId, type, isoOf(now)));
    const delivery: Delivery = {
      eventId,
      target: { kind: 'webhook', id: endpointIdOf(accountId, url) },
      accountId,
      watchId: '',
      keywordId: '',
      source: '',
      endpoint: url,
      body: Buffer.from(requestBody),
      signing: endpoint.signing,
      attempts: 0,
      firstAt: now,
      failingSince: undefined,
      pending: false,
      cause: currentTraceparent(),
    };
    const { at, delivered, statusCode, durationMs, message } = await this.send(delivery);
    return create(TestedWebhookSchema, {
      delivered,
      statusCode,
      durationMs,
      message: delivered ? `the endpoint answered ${statusCode}` : message,
      requestHeaders: {
        'user-agent': USER_AGENT,
        ...byName(webhookHeaders(delivery, Math.floor(at / 1000))),
      },
      requestBody,
    });
  }

  private send(delivery: Delivery): Promise<AttemptResult> {
    return new Promise((resolve, reject) =>
      sendWebhook(this.http, delivery, (error, result) => {
        if (result) resolve(result);
        else reject(error instanceof Error ? error : new Error(String(error)));
      }),
    );
  }
}

/** Converts a list of alternating names and values to an object. */
function byName(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let n = 0; n < list.length; n += 2) headers[list[n] ?? ''] = list[n + 1] ?? '';
  return headers;
}
