import { Controller, Get, Inject, Query } from '@nestjs/common';
import { creditsPerCheck, floorSeconds } from '#contracts';
import { isoOf } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { FLOOR_SECONDS, SOURCES } from '../../config.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { SourceReads } from '../../reads/source-reads.js';
import { unavailability, type Sources } from '../keywords/keyword-faults.js';

/** The sources of this installation: their settings, their health, and the price of a check. Free. */
@Controller('v1/sources')
export class SourcesController {
  constructor(
    @Inject(SOURCES) private readonly sources: Sources,
    @Inject(FLOOR_SECONDS) private readonly floor: number | undefined,
    private readonly reads: SourceReads,
  ) {}

  @Get()
  async list(@From() { plan }: Caller, @Query() raw: RawQuery) {
    new QueryReader(raw).finish();
    const health = await this.reads.health();
    return {
      data: [...this.sources].map(([id, setup]) => {
        const { trouble = '', lastSuccessAt = null } = health.get(id) ?? {};
        const unavailable = unavailability(id, this.sources);
        return {
          id,
          configured: setup.configured,
          enabled: setup.enabled,
          healthy: unavailable === undefined && trouble === '',
          /** Why the source is not healthy, and what to do. */
          reason: unavailable ?? (trouble || null),
          missingSettings: setup.missingSettings,
          lastSuccessAt: lastSuccessAt ? isoOf(lastSuccessAt) : null,
          intervalFloorSeconds: floorSeconds(plan, id, this.floor),
          // For a source with several engines, the price of one engine.
          creditsPerCheck: creditsPerCheck(id),
          firehose: setup.connector.feed !== undefined,
        };
      }),
    };
  }
}
