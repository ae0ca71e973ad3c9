import { Module } from '@nestjs/common';
import { projectionController, serviceModule, type ServiceDefinition } from '#platform';
import { FLOOR_SECONDS, SOURCES, type KeywordsConfig } from './config.js';
import { KeywordDecisions } from './handlers/keyword-decisions.js';
import { KeywordsHandler } from './handlers/keywords.handler.js';
import { PausesHandler } from './handlers/pauses.handler.js';
import { PlanHandler } from './handlers/plan.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { WatchesHandler } from './handlers/watches.handler.js';
import { Admission } from './planning/admission.js';
import { KeywordWarnings } from './planning/keyword-warnings.js';
import { PlanEnforcement } from './planning/plan-enforcement.js';
import { keywordsProjection } from './projections/keywords.projection.js';
import { LostPurgesLoop } from './lost-purges.loop.js';
import { PausesLoop } from './pauses.loop.js';
import { UpgradeLoop } from './upgrade.loop.js';

@Module({})
class KeywordsModule {}

/** Returns the service keywords: it decides what is watched, within the plan and the credits of an account. */
export function keywordsService(config: KeywordsConfig): ServiceDefinition {
  return {
    name: 'keywords',
    module: serviceModule(
      KeywordsModule,
      {
        providers: [
          { provide: SOURCES, useValue: config.sources },
          { provide: FLOOR_SECONDS, useValue: config.INTERVAL_FLOOR_SECONDS },
          KeywordDecisions,
          Admission,
          KeywordWarnings,
          PlanEnforcement,
          PausesLoop,
          UpgradeLoop,
          LostPurgesLoop,
        ],
        controllers: [
          KeywordsHandler,
          WatchesHandler,
          PausesHandler,
          PlanHandler,
          PurgeHandler,
          projectionController(keywordsProjection),
        ],
      },
      {
        inject: [LostPurgesLoop, PausesLoop, UpgradeLoop],
        list: (...loops: [LostPurgesLoop, PausesLoop, UpgradeLoop]) => ({ loops }),
      },
    ),
  };
}
