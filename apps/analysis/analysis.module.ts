import { Module } from '@nestjs/common';
import type { ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE, DATABASE, serviceModule, type ServiceDefinition } from '#platform';
import type { Database } from '#postgres';
import { ChecksHandler } from './handlers/checks.handler.js';
import { analysisPurge } from './handlers/purge.handler.js';
import { attemptActivitySink } from './sinks/attempt-activity.sink.js';
import { checkActivitySink } from './sinks/check-activity.sink.js';
import { mentionsSink } from './sinks/mentions.sink.js';

@Module({})
class AnalysisModule {}

/** Analysis: turns what checks found into final events, and fills the reads in ClickHouse. */
export function analysisService(): ServiceDefinition {
  return {
    name: 'analysis',
    module: serviceModule(
      AnalysisModule,
      { providers: [ChecksHandler] },
      {
        inject: [ChecksHandler, CLICKHOUSE, DATABASE],
        list: (checks: ChecksHandler, clickhouse: ClickHouseClient, database: Database) => ({
          durables: [
            checks.durable(),
            mentionsSink(clickhouse, database),
            checkActivitySink(clickhouse),
            attemptActivitySink(clickhouse),
            analysisPurge(clickhouse),
          ],
          commands: [],
          loops: [],
        }),
      },
    ),
  };
}
