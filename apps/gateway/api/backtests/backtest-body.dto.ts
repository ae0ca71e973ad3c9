import type { JsonObject } from '@bufbuild/protobuf';
import { DateTime, Described, Optional } from '../../http/validators.js';
import { TreatmentDto } from '../keywords/keyword-body.dto.js';

/**
 * The changes that a backtest tests. If a key is absent, the backtest uses the keyword's value. Null removes the value of
 * `spikeAlert` and `minRelevance`; for the other keys, an empty list does.
 */
export class BacktestBodyDto extends TreatmentDto {
  @Optional()
  @DateTime()
  @Described(
    'Beginning of the window. A time more than 90 days ago is treated as 90 days ago. Default: 30 days ago',
  )
  since?: string;
}

/** Returns the body without `since`, in the form of a change of the keyword. */
export function changesOf({ since: _, ...changes }: BacktestBodyDto): JsonObject {
  return JSON.parse(JSON.stringify(changes)) as JsonObject;
}
