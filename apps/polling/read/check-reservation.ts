import type { OwnReservation } from '#credits';
import { checkIdOf, isoOf } from '#kernel';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/**
 * Returns the reservation for the check of a watch. The reservation has the id of the check, so another attempt at the
 * same tick finds the same reservation, and the charge of the check settles it.
 */
export function checkReservationOf({ claim }: DueSearch, { watchId, tick }: DueWatch): OwnReservation {
  return { reservationId: checkIdOf(watchId, isoOf(tick)), holder: claim };
}
