import { Module } from '@nestjs/common';
import type { ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import { CLICKHOUSE, DATABASE, serviceModule, STORE, type ServiceDefinition } from '#platform';
import type { Database } from '#postgres';
import { durableOf } from '#projections';
import { ChecksHandler } from './handlers/checks.handler.js';
import { disabledEndpoints } from './handlers/disabled-endpoints.handler.js';
import { keywordEvents } from './handlers/keyword-events.handler.js';
import { analysisPurge } from './handlers/purge.handler.js';
import { LabelsHandler } from './handlers/labels.handler.js';
import { labelsProjection } from './projections/labels.projection.js';
import { attemptActivitySink } from './readmodels/attempt-activity.sink.js';
import { attemptsSink } from './readmodels/attempts.sink.js';
import { checkActivitySink } from './readmodels/check-activity.sink.js';
import { eventsIndexSink } from './readmodels/events-index.sink.js';
import { labelsSink } from './readmodels/labels.sink.js';
import { mentionsSink } from './readmodels/mentions.sink.js';
import { observationsSink } from './readmodels/observations.sink.js';

@Module({})
class AnalysisModule {}

/** Analysis: turns what checks found into final events, and fills the reads in ClickHouse. */
export function analysisService(): ServiceDefinition {
  return {
    name: 'analysis',
    module: serviceModule(
      AnalysisModule,
      { providers: [ChecksHandler, LabelsHandler] },
      {
        inject: [ChecksHandler, LabelsHandler, CLICKHOUSE, DATABASE, STORE],
        list: (
          checks: ChecksHandler,
          labels: LabelsHandler,
          clickhouse: ClickHouseClient,
          database: Database,
          store: EventStore,
        ) => ({
          durables: [
            checks.durable(),
            keywordEvents(store, database),
            mentionsSink(clickhouse, database),
            durableOf(labelsProjection, database),
            labelsSink(clickhouse, database),
            checkActivitySink(clickhouse, database, store),
            observationsSink(clickhouse, database, store),
            eventsIndexSink(clickhouse, database),
            attemptActivitySink(clickhouse),
            attemptsSink(clickhouse),
            disabledEndpoints(store, database, clickhouse),
            analysisPurge(clickhouse, database, store),
          ],
          commands: labels.commands(),
          loops: [],
        }),
      },
    ),
  };
}
