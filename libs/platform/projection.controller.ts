import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject, mixin, type Type } from '@nestjs/common';
import type { Outcome } from '#messaging';
import type { Database } from '#postgres';
import { appliedUpTo, applyBatch, consumerOf, type Projection } from '#projections';
import { AppliedUpTo, ConsumerPattern } from '#transport';
import { DATABASE } from './platform.js';

/** The controller whose consumer feeds the projection, for the module of the service that owns its tables. */
export function projectionController(projection: Projection): Type {
  const consumer = consumerOf(projection);

  @Controller()
  class ProjectionController {
    constructor(@Inject(DATABASE) private readonly database: Database) {}

    @ConsumerPattern(consumer)
    apply(batch: readonly JsMsg[]): Promise<Outcome[]> {
      return applyBatch(this.database, projection, batch);
    }

    @AppliedUpTo(consumer)
    appliedUpTo(): Promise<number> {
      return appliedUpTo(this.database, projection);
    }
  }

  return mixin(ProjectionController);
}
