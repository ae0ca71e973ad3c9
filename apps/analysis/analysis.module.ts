import { Module } from '@nestjs/common';
import { openEmbedder, type Embedder } from '#embeddings';
import { projectionController, serviceModule, USER_AGENT, type ServiceDefinition } from '#platform';
import { EMBEDDER, type AnalysisConfig } from './config.js';
import { startLocalReader, type LocalReader } from '#readers';
import { ChecksHandler } from './handlers/checks.handler.js';
import { DisabledEndpointsHandler } from './handlers/disabled-endpoints.handler.js';
import { KeywordEventsHandler } from './handlers/keyword-events.handler.js';
import { LabelsHandler } from './handlers/labels.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { QuestionsHandler } from './handlers/questions.handler.js';
import { labelsProjection } from './projections/labels.projection.js';
import { ItemBuckets } from './readings/item-buckets.js';
import { ItemReadings } from './readings/item-readings.js';
import { LLM } from './readings/llm.js';
import { READER } from './readings/local-reader.js';
import { Stories } from './readings/stories.js';
import { AttemptActivitySink } from './readmodels/attempt-activity.sink.js';
import { AttemptsSink } from './readmodels/attempts.sink.js';
import { CheckActivitySink } from './readmodels/check-activity.sink.js';
import { EventsIndexSink } from './readmodels/events-index.sink.js';
import { ExploreItemsSink } from './readmodels/explore-items.sink.js';
import { LabelsSink } from './readmodels/labels.sink.js';
import { MentionsSink } from './readmodels/mentions.sink.js';
import { ObservationsSink } from './readmodels/observations.sink.js';
import { VectorsSink } from './readmodels/vectors.sink.js';

/** A thread reads some thousand items in a minute; a second one would take memory and processor time of the services. */
const READER_THREADS = 1;

@Module({})
class AnalysisModule {}

/** Analysis: turns the results of checks into final events, and writes the read models in ClickHouse. */
export function analysisService(config: AnalysisConfig): ServiceDefinition {
  return {
    name: 'analysis',
    module: serviceModule(
      AnalysisModule,
      {
        providers: [
          { provide: EMBEDDER, useFactory: () => openEmbedder(config, USER_AGENT) },
          { provide: READER, useFactory: () => startLocalReader({ workers: READER_THREADS }) },
          { provide: LLM, useValue: undefined },
          Stories,
          ItemBuckets,
          ItemReadings,
        ],
        controllers: [
          ChecksHandler,
          KeywordEventsHandler,
          LabelsHandler,
          DisabledEndpointsHandler,
          PurgeHandler,
          projectionController(labelsProjection),
          MentionsSink,
          VectorsSink,
          QuestionsHandler,
          LabelsSink,
          CheckActivitySink,
          ObservationsSink,
          ExploreItemsSink,
          EventsIndexSink,
          AttemptActivitySink,
          AttemptsSink,
        ],
      },
      {
        inject: [READER, EMBEDDER],
        list: (reader: LocalReader, embedder: Embedder) => ({
          loops: [],
          async afterStop() {
            await Promise.all([reader.close(), embedder.close()]);
          },
        }),
      },
    ),
  };
}
