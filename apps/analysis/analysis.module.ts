import { Module } from '@nestjs/common';
import type { ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE, serviceModule, type ServiceDefinition } from '#platform';
import { ChecksHandler } from './handlers/checks.handler.js';
import { analysisPurge } from './handlers/purge.handler.js';
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
        inject: [ChecksHandler, CLICKHOUSE],
        list: (checks: ChecksHandler, clickhouse: ClickHouseClient) => ({
          durables: [
            checks.durable(),
            mentionsSink(clickhouse),
            checkActivitySink(clickhouse),
            analysisPurge(clickhouse),
          ],
          commands: [],
          loops: [],
        }),
      },
    ),
  };
}
