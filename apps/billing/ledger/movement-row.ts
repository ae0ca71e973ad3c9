import type { CreditMovement } from '#contracts';

/** The position of a movement in the ledger of its account. */
export interface MovementPosition {
  accountId: string;
  /** Sequence of the message in CREDITS. */
  seq: number;
  /** Position in the message, from 0. */
  place: number;
  decidedAt: string;
}

/** The columns of `credit_movements` that describe a movement's cause. */
interface CauseColumns {
  kind: string;
  reference: string;
  fact_at?: string;
  operation?: string;
  source?: string | null;
  keyword_id?: string | null;
  watch_id?: string | null;
  check_id?: string | null;
  rate?: number;
  units?: number;
  price_book_version?: string | null;
}

/** Returns a row of `credit_movements`. `fact_at` is the time of the decision if the movement is not a charge. */
export function movementRow(
  movement: CreditMovement,
  { accountId, seq, place, decidedAt }: MovementPosition,
) {
  return {
    movement_id: movement.movementId,
    account_id: accountId,
    seq,
    place,
    at: decidedAt,
    fact_at: decidedAt,
    amount: movement.amount,
    balance_after: movement.balanceAfter,
    ...causeColumns(movement),
  };
}

function causeColumns({ movementId, cause }: CreditMovement): CauseColumns {
  switch (cause.case) {
    case 'charge': {
      const { value } = cause;
      return {
        kind: 'charge',
        reference: value.reference,
        fact_at: value.at,
        operation: value.operation,
        source: value.source || null,
        keyword_id: value.keywordId || null,
        watch_id: value.watchId || null,
        check_id: value.checkId || null,
        rate: value.rateCredits,
        units: value.units,
        price_book_version: value.priceBookVersion || null,
      };
    }
    case 'grant':
      return { kind: 'grant', reference: cause.value.packId };
    case 'packExpiry':
      return { kind: 'pack_expiry', reference: cause.value.packId };
    case 'renewal':
      return { kind: 'renewal', reference: cause.value.periodStart };
    case 'allowanceChange':
      return { kind: 'allowance_change', reference: cause.value.plan };
    case undefined:
      // A newer version of Earshot wrote this cause. The amount is stored, but the cause is unknown.
      return { kind: 'unknown', reference: movementId };
  }
}
