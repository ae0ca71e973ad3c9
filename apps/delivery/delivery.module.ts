import { Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { EventStore } from '#event-store';
import { createOutboundHttp, type OutboundDispatcher } from '#http-out';
import { within } from '#kernel';
import {
  DATABASE,
  projectionController,
  serviceModule,
  STORE,
  USER_AGENT,
  type ServiceDefinition,
} from '#platform';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';
import { AttemptRecorder } from './attempts/attempt-recorder.js';
import { EndpointQueues, STOP_PATIENCE_MS } from './attempts/endpoint-queues.js';
import { Targets } from './attempts/targets.js';
import { sendWebhook } from './attempts/webhook-sender.js';
import { OUTBOUND, type DeliveryConfig } from './config.js';
import { DeliveriesHandler } from './handlers/deliveries.handler.js';
import { EventsHandler } from './handlers/events.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { ReplaysHandler } from './handlers/replays.handler.js';
import { WebhookTestHandler } from './handlers/webhook-test.handler.js';
import { endpointsProjection } from './projections/endpoints.projection.js';
import { replaysProjection } from './projections/replays.projection.js';
import { EventIndex } from './replays/event-index.js';
import { ReplayDecisions } from './replays/replay-decisions.js';
import { ReplaySender } from './replays/replay-sender.js';
import { ReplayLoop } from './replays/replay.loop.js';
import { RetryLoop } from './retry.loop.js';

@Module({})
class DeliveryModule {}

/** Maximum number of concurrent webhook requests to all endpoints together. */
const TOTAL_CONCURRENCY = 128;
/**
 * Many endpoints can share one host, and hanging requests keep their connections without counting towards the total.
 */
const CONNECTIONS_PER_ORIGIN = 1024;

/** Delivery: sends signed events to receivers and retries until they are accepted. It also sends replays. */
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
          {
            provide: EndpointQueues,
            inject: [OUTBOUND],
            useFactory: (http: OutboundDispatcher) =>
              new EndpointQueues((one, done) => sendWebhook(http, one, done), concurrency, TOTAL_CONCURRENCY),
          },
          {
            provide: Targets,
            inject: [DATABASE],
            useFactory: (database: Database) => new Targets(database, new SecretBox(config.MASTER_KEY)),
          },
          {
            provide: AttemptRecorder,
            inject: [DATABASE, STORE],
            useFactory: (database: Database, store: EventStore) => new AttemptRecorder(database, store),
          },
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
          PurgeHandler,
          projectionController(endpointsProjection),
          projectionController(replaysProjection),
        ],
      },
      {
        inject: [ModuleRef, OUTBOUND, AttemptRecorder, RetryLoop, ReplayLoop],
        list: (
          module: ModuleRef,
          http: OutboundDispatcher,
          recorder: AttemptRecorder,
          ...loops: [RetryLoop, ReplayLoop]
        ) => ({
          loops,
          async afterStop() {
            await within(STOP_PATIENCE_MS, module.get(EventsHandler).drain());
            // The closing of the HTTP client fails the remaining requests. That is not a fault of the endpoint and is
            // not recorded.
            recorder.close();
            await http.close();
          },
        }),
      },
    ),
  };
}
