import { Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { EventStore } from '#event-store';
import { createOutboundHttp, createOutboundMail, type OutboundDispatcher } from '#http-out';
import { within } from '#kernel';
import {
  DATABASE,
  LOG,
  projectionController,
  serviceModule,
  STORE,
  USER_AGENT,
  type ServiceDefinition,
} from '#platform';
import type { Logger } from '#telemetry';
import type { Database } from '#postgres';
import { AddressLinks, SecretBox } from '#secrets';
import { AttemptRecorder } from './attempts/attempt-recorder.js';
import { PendingClaims } from './attempts/claims.js';
import { EndpointQueues, STOP_TIMEOUT_MS } from './attempts/endpoint-queues.js';
import { FirstDeliveries } from './attempts/first-deliveries.js';
import { Targets } from './attempts/targets.js';
import { TestQuota } from './attempts/test-quota.js';
import { sendWebhook } from './attempts/webhook-sender.js';
import { ChannelDecisions } from './channels/channel-decisions.js';
import { ChannelSecretsReseal } from './channels/channel-secrets-reseal.js';
import { ChannelSender, type ChatAddresses, type MailSettings } from './channels/channel-sender.js';
import { Channels } from './channels/channels.js';
import { ChannelPace } from './channels/pace.js';
import { OUTBOUND, type DeliveryConfig } from './config.js';
import { ChannelTestHandler } from './handlers/channel-test.handler.js';
import { ChannelsHandler } from './handlers/channels.handler.js';
import { DeletedChannelsHandler } from './handlers/deleted-channels.handler.js';
import { DeliveriesHandler } from './handlers/deliveries.handler.js';
import { EventsHandler } from './handlers/events.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { ReplaysHandler } from './handlers/replays.handler.js';
import { WebhookTestHandler } from './handlers/webhook-test.handler.js';
import { channelsProjection } from './projections/channels.projection.js';
import { digestDeliveriesProjection } from './projections/digest-deliveries.projection.js';
import { endpointsProjection } from './projections/endpoints.projection.js';
import { replaysProjection } from './projections/replays.projection.js';
import { EventIndex } from './replays/event-index.js';
import { ReplayDecisions } from './replays/replay-decisions.js';
import { ReplaySender } from './replays/replay-sender.js';
import { ReplayLoop } from './replays/replay.loop.js';
import { RetryLoop } from './retry.loop.js';

@Module({})
class DeliveryModule {}

/** Maximum number of concurrent requests to all endpoints and channels together. Slow requests are not counted. */
const TOTAL_CONCURRENCY = 128;
/**
 * Maximum number of connections to one host. The limit is high because many endpoints can share one host, and because
 * hanging requests keep their connections although they are not counted in `TOTAL_CONCURRENCY`.
 */
const CONNECTIONS_PER_ORIGIN = 1024;

/**
 * Returns the service `delivery`: it sends events to webhooks and channels, retries failed attempts, and sends digests
 * and replays.
 */
export function deliveryService(config: DeliveryConfig): ServiceDefinition {
  const concurrency = config.WEBHOOK_ENDPOINT_CONCURRENCY;
  return {
    name: 'delivery',
    module: serviceModule(
      DeliveryModule,
      {
        providers: [
          {
            provide: OUTBOUND,
            useFactory: () =>
              createOutboundHttp({
                allow: config.egressAllow,
                userAgent: USER_AGENT,
                connectionsPerOrigin: CONNECTIONS_PER_ORIGIN,
              }),
          },
          { provide: SecretBox, useValue: new SecretBox(config.MASTER_KEY) },
          { provide: ChannelPace, useValue: new ChannelPace() },
          {
            provide: Channels,
            inject: [DATABASE, SecretBox],
            useFactory: (database: Database, box: SecretBox) => new Channels(database, box),
          },
          {
            provide: ChannelSender,
            inject: [OUTBOUND, ChannelPace],
            useFactory: (http: OutboundDispatcher, pace: ChannelPace) =>
              new ChannelSender(http, mailSettings(config), chatAddresses(config), pace),
          },
          {
            provide: EndpointQueues,
            inject: [OUTBOUND, ChannelSender],
            useFactory: (http: OutboundDispatcher, channels: ChannelSender) =>
              new EndpointQueues(
                (one, done) => (one.destination ? channels.send(one, done) : sendWebhook(http, one, done)),
                concurrency,
                TOTAL_CONCURRENCY,
              ),
          },
          {
            provide: Targets,
            inject: [DATABASE, SecretBox],
            useFactory: (database: Database, box: SecretBox) => new Targets(database, box),
          },
          {
            provide: AttemptRecorder,
            inject: [DATABASE, STORE, ChannelDecisions, LOG],
            useFactory: (...parts: [Database, EventStore, ChannelDecisions, Logger]) =>
              new AttemptRecorder(...parts),
          },
          ChannelDecisions,
          ChannelSecretsReseal,
          TestQuota,
          FirstDeliveries,
          PendingClaims,
          RetryLoop,
          EventIndex,
          ReplayDecisions,
          ReplaySender,
          ReplayLoop,
        ],
        controllers: [
          EventsHandler,
          ReplaysHandler,
          DeliveriesHandler,
          WebhookTestHandler,
          ChannelsHandler,
          ChannelTestHandler,
          DeletedChannelsHandler,
          PurgeHandler,
          projectionController(endpointsProjection),
          projectionController(channelsProjection),
          projectionController(digestDeliveriesProjection),
          projectionController(replaysProjection),
        ],
      },
      {
        inject: [ModuleRef, OUTBOUND, ChannelSender, AttemptRecorder, RetryLoop, ReplayLoop],
        list: (
          module: ModuleRef,
          http: OutboundDispatcher,
          channels: ChannelSender,
          recorder: AttemptRecorder,
          ...loops: [RetryLoop, ReplayLoop]
        ) => ({
          loops,
          async afterStop() {
            await within(STOP_TIMEOUT_MS, module.get(EventsHandler).drain());
            // When the HTTP client closes, the remaining requests fail. These failures are not the fault of endpoints,
            // and are not recorded.
            recorder.close();
            channels.close();
            await http.close();
          },
        }),
      },
    ),
  };
}

function mailSettings(config: DeliveryConfig): MailSettings | undefined {
  const { SMTP_URL: url, MAIL_FROM: from, SMTP_REQUIRE_TLS: requireTls, PUBLIC_URL: publicUrl } = config;
  if (url === '') return undefined;
  return {
    mail: createOutboundMail({ url, from, requireTls }),
    links: new AddressLinks(config.MASTER_KEY, publicUrl),
    publicUrl,
  };
}

function chatAddresses(config: DeliveryConfig): ChatAddresses {
  return {
    slack: config.CHANNEL_SLACK_URL,
    discord: config.CHANNEL_DISCORD_URL,
    teams: config.CHANNEL_TEAMS_URL,
    telegram: config.CHANNEL_TELEGRAM_URL,
  };
}
