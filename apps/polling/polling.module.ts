import { Module } from '@nestjs/common';
import type { EventStore } from '#event-store';
import { createOutboundHttp } from '#http-out';
import { DATABASE, serviceModule, STORE, USER_AGENT, type ServiceDefinition } from '#platform';
import type { Database } from '#postgres';
import { durableOf } from '#projections';
import type { PollingConfig } from './config.js';
import { pollingPurge } from './handlers/purge.handler.js';
import { LaneWork } from './lanes/lane-work.js';
import { OUTBOUND, POLLING_CONFIG, PollingLoop } from './polling.loop.js';
import { scheduleProjection } from './projections/schedule.projection.js';

@Module({})
class PollingModule {}

/** Polling: asks the upstreams when it is time, matches what they answer, and states each check as one fact. */
export function pollingService(config: PollingConfig): ServiceDefinition {
  return {
    name: 'polling',
    module: serviceModule(
      PollingModule,
      {
        providers: [
          { provide: POLLING_CONFIG, useValue: config },
          {
            provide: OUTBOUND,
            useFactory: () => createOutboundHttp({ allow: config.egressAllow, userAgent: USER_AGENT }),
          },
          LaneWork,
          PollingLoop,
        ],
      },
      {
        inject: [DATABASE, STORE, PollingLoop],
        list: (database: Database, store: EventStore, polling: PollingLoop) => ({
          durables: [durableOf(scheduleProjection(config.lanesOf), database), pollingPurge(database, store)],
          commands: [],
          loops: [polling],
        }),
      },
    ),
  };
}
