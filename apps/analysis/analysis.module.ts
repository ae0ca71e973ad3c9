import { Module } from '@nestjs/common';
import { openEmbedder, type Embedder } from '#embeddings';
import { createLlm, type Llm } from '#llm';
import {
  DATABASE,
  LOG,
  projectionController,
  serviceModule,
  USER_AGENT,
  type ServiceDefinition,
} from '#platform';
import type { Database } from '#postgres';
import { startLocalReader, type LocalReader } from '#readers';
import type { Logger } from '#telemetry';
import { AlertDecisions } from './alerts/alert-decisions.js';
import { AlertEvaluation } from './alerts/alert-evaluation.js';
import { AlertsLoop } from './alerts/alerts.loop.js';
import { AnalysedMentions } from './analyses/analysed-mentions.js';
import { AnalysisWork } from './analyses/analysis-work.js';
import { BacktestsHandler } from './backtests/backtests.handler.js';
import { StoredMentions } from './backtests/stored-mentions.js';
import { TestedAlerts } from './backtests/tested-alerts.js';
import { EMBEDDER, PUBLIC_URL, type AnalysisConfig } from './config.js';
import { DigestAssembly } from './digests/digest-assembly.js';
import { DigestsLoop } from './digests/digests.loop.js';
import { WeeklyFigures } from './digests/weekly-figures.js';
import { AlertEventsHandler } from './handlers/alert-events.handler.js';
import { AnalysesHandler } from './handlers/analyses.handler.js';
import { AnsweredReadingsHandler } from './handlers/answered-readings.handler.js';
import { ChecksHandler } from './handlers/checks.handler.js';
import { DisabledChannelsHandler } from './handlers/disabled-channels.handler.js';
import { DigestEventsHandler } from './handlers/digest-events.handler.js';
import { DigestTurnsHandler } from './handlers/digest-turns.handler.js';
import { DisabledEndpointsHandler } from './handlers/disabled-endpoints.handler.js';
import { KeywordEventsHandler } from './handlers/keyword-events.handler.js';
import { LabelsHandler } from './handlers/labels.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { QuestionsHandler } from './handlers/questions.handler.js';
import { alertsProjection } from './projections/alerts.projection.js';
import { digestItemsProjection } from './projections/digest-items.projection.js';
import { labelsProjection } from './projections/labels.projection.js';
import { mentionCountsProjection } from './projections/mention-counts.projection.js';
import { reportsProjection } from './projections/reports.projection.js';
import { searchCoverageProjection } from './projections/search-coverage.projection.js';
import { waitingReadingsProjection } from './projections/waiting-readings.projection.js';
import { ItemBuckets } from './readings/item-buckets.js';
import { ItemReadings } from './readings/item-readings.js';
import { LLM } from './readings/llm.js';
import { SharedLlmTurns } from './readings/shared-turns.js';
import { READER } from './readings/local-reader.js';
import { StoriesLoop } from './readings/stories.loop.js';
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
import { EventRules } from './rules/event-rules.js';
import { Similarities } from './rules/similarities.js';
import { WorkCharges } from './search/work-charges.js';
import { ChecksProgress, EventsProgress } from './projection-progress.js';
import { ModelQuestions } from './waiting/model-questions.js';
import { QuestionAnswers } from './waiting/question-answers.js';
import { QuestionsLoop } from './waiting/questions.loop.js';

/**
 * Number of threads that read items. One thread reads more than ten thousand items in a minute; a second thread would
 * use memory and processor time that the services need.
 */
const READER_THREADS = 1;

@Module({})
class AnalysisModule {}

/**
 * Returns the definition of the service `analysis`. The service converts the results of checks to final events, and writes
 * the read models in ClickHouse.
 */
export function analysisService(config: AnalysisConfig): ServiceDefinition {
  const { llm } = config;
  return {
    name: 'analysis',
    module: serviceModule(
      AnalysisModule,
      {
        providers: [
          { provide: EMBEDDER, useFactory: () => openEmbedder(config, USER_AGENT) },
          { provide: READER, useFactory: () => startLocalReader({ workers: READER_THREADS }) },
          {
            provide: LLM,
            inject: [LOG, DATABASE],
            useFactory: (log: Logger, database: Database) =>
              llm && createLlm(llm, log, new SharedLlmTurns(database, llm)),
          },
          WorkCharges,
          AnalysedMentions,
          AnalysisWork,
          Stories,
          StoriesLoop,
          ItemBuckets,
          ItemReadings,
          Similarities,
          EventRules,
          StoredMentions,
          TestedAlerts,
          ModelQuestions,
          QuestionAnswers,
          QuestionsLoop,
          AlertDecisions,
          AlertEvaluation,
          AlertsLoop,
          EventsProgress,
          ChecksProgress,
          { provide: PUBLIC_URL, useValue: config.PUBLIC_URL },
          WeeklyFigures,
          DigestAssembly,
          DigestsLoop,
        ],
        controllers: [
          ChecksHandler,
          KeywordEventsHandler,
          LabelsHandler,
          DisabledChannelsHandler,
          DisabledEndpointsHandler,
          PurgeHandler,
          AnsweredReadingsHandler,
          projectionController(labelsProjection),
          projectionController(waitingReadingsProjection),
          projectionController(mentionCountsProjection),
          projectionController(searchCoverageProjection),
          projectionController(alertsProjection),
          AlertEventsHandler,
          projectionController(digestItemsProjection),
          projectionController(reportsProjection),
          DigestTurnsHandler,
          DigestEventsHandler,
          MentionsSink,
          VectorsSink,
          QuestionsHandler,
          AnalysesHandler,
          BacktestsHandler,
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
        inject: [READER, EMBEDDER, LLM, QuestionsLoop, StoriesLoop, AlertsLoop, DigestsLoop],
        list: (
          reader: LocalReader,
          embedder: Embedder,
          model: Llm | undefined,
          ...loops: [QuestionsLoop, StoriesLoop, AlertsLoop, DigestsLoop]
        ) => ({
          loops,
          async afterStop() {
            await Promise.all([reader.close(), embedder.close(), model?.close()]);
          },
        }),
      },
    ),
  };
}
