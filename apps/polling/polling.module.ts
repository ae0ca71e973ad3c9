import { Module } from '@nestjs/common';
import { createOutboundHttp } from '#http-out';
import { projectionController, serviceModule, USER_AGENT, type ServiceDefinition } from '#platform';
import type { PollingConfig } from './config.js';
import { ExploresHandler } from './handlers/explores.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { LaneWork } from './lanes/lane-work.js';
import { OUTBOUND, POLLING_CONFIG, PollingLoop } from './polling.loop.js';
import { exploresProjection } from './projections/explores.projection.js';
import { scheduleProjection } from './projections/schedule.projection.js';

@Module({})
class PollingModule {}

/**
 * Returns the definition of the polling service. This service reads the upstreams when checks are due, matches the items,
 * and publishes each check on CHECKS.
 */
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
        controllers: [
          PurgeHandler,
          ExploresHandler,
          projectionController(scheduleProjection(config.lanesOf)),
          projectionController(exploresProjection),
        ],
      },
      { inject: [PollingLoop], list: (polling: PollingLoop) => ({ loops: [polling] }) },
    ),
  };
}
