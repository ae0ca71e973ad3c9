import { Module } from '@nestjs/common';
import { DATABASE, serviceModule, type ServiceDefinition } from '#platform';
import type { Database } from '#postgres';
import { durableOf } from '#projections';
import { KeywordsHandler } from './handlers/keywords.handler.js';
import { PurgeHandler } from './handlers/purge.handler.js';
import { keywordsProjection } from './projections/keywords.projection.js';

@Module({})
class KeywordsModule {}

/**
 * Keywords: decides what is watched. Plan limits and estimates take their place in `KeywordsHandler`, before
 * `decide`.
 */
export function keywordsService(): ServiceDefinition {
  return {
    name: 'keywords',
    module: serviceModule(
      KeywordsModule,
      { providers: [KeywordsHandler, PurgeHandler] },
      {
        inject: [DATABASE, KeywordsHandler, PurgeHandler],
        list: (database: Database, keywords: KeywordsHandler, purge: PurgeHandler) => ({
          durables: [durableOf(keywordsProjection, database), purge.durable()],
          commands: keywords.commands(),
          loops: [],
        }),
      },
    ),
  };
}
