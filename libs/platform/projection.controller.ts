import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject, mixin, type OnModuleInit, type Type } from '@nestjs/common';
import { getMessage, type Bus, type Outcome } from '#messaging';
import type { Database } from '#postgres';
import { appliedUpTo, applyBatch, bringToVersion, consumerOf, type Projection } from '#projections';
import type { Logger } from '#telemetry';
import { AppliedUpTo, ConsumerPattern } from '#transport';
import { BUS, DATABASE, LOG } from './platform.js';

/** Makes a controller whose consumer fills the projection, for the module of the service that owns its tables. */
export function projectionController(projection: Projection): Type {
  const consumer = consumerOf(projection);

  @Controller()
  class ProjectionController implements OnModuleInit {
    constructor(
      @Inject(DATABASE) private readonly database: Database,
      @Inject(BUS) private readonly bus: Bus,
      @Inject(LOG) private readonly log: Logger,
    ) {}

    /** Runs before the service accepts commands or messages. */
    onModuleInit(): Promise<void> {
      return bringToVersion(this.database, this.bus, projection, this.log);
    }

    @ConsumerPattern(consumer)
    apply(batch: readonly JsMsg[]): Promise<Outcome[]> {
      return applyBatch(this.database, projection, batch, async (subject, seq) => {
        const first = await getMessage(this.bus, projection.stream, { seq: seq + 1, next_by_subj: subject });
        return first?.seq;
      });
    }

    @AppliedUpTo(consumer)
    appliedUpTo(): Promise<number> {
      return appliedUpTo(this.database, projection);
    }
  }

  return mixin(ProjectionController);
}
