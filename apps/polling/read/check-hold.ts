import type { OwnHold } from '#credits';
import { checkIdOf, isoOf } from '#kernel';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/**
 * What the claim of a search holds for the check of one of its watches. It has the check's own id: whoever tries the same
 * tick again meets its hold, and the charge for the check uses it up.
 */
export function checkHoldOf({ claim }: DueSearch, { watchId, tick }: DueWatch): OwnHold {
  return { holdId: checkIdOf(watchId, isoOf(tick)), holder: claim };
}
