import { equals, toJson, type JsonObject } from '@bufbuild/protobuf';
import { CreditMovementSchema, type Charge, type CreditMovement } from '#contracts';
import { Refusal } from '#kernel';
import { decide, type LedgerCommand } from '../../billing/domain/ledger.js';
import type { LedgerState } from '../../billing/domain/ledger-state.js';
import type { ChargedStream } from '../../billing/ledger/charges.js';
import type { Origins } from './origins.js';

/** The ledger before a movement, and the known causes of movements. */
export interface MovementContext {
  accountId: string;
  /** The ledger before the movement. */
  before: LedgerState;
  decidedAt: string;
  origins: Origins;
  /**
   * True if the movement can be newer than the account's decisions in the input, so that its decision can be missing in
   * the input.
   */
  isLater: boolean;
  /** True if the rest of a charge that the balance did not cover is no fault. */
  isExcused: boolean;
}

/** The audit's result for one movement. */
export interface MovementCheck {
  faults: string[];
  /** The expected movement; undefined if none is expected, or if no cause is known. */
  expected: CreditMovement | undefined;
}

/** Computes the movement again with the function that billing uses, and compares all fields. */
export function checkMovement(movement: CreditMovement, context: MovementContext): MovementCheck {
  try {
    const { faults, expected } = recomputed(movement, context);
    if (expected) faults.push(...differences(movement, expected));
    if (!context.isExcused) faults.push(...uncoveredPart(movement));
    return { faults, expected };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const why = error.details?.map(({ message }) => message).join(', ') ?? error.message;
    return { faults: [`should have been refused: ${why}`], expected: undefined };
  }
}

function recomputed(movement: CreditMovement, context: MovementContext): MovementCheck {
  const { accountId, before, decidedAt } = context;
  const moment = { accountId, now: decidedAt };
  const kind = movement.cause.case;
  const due = before.status === 'open' ? decide({ kind: 'renew' }, before, moment) : [];
  if (kind === 'packExpiry' || (kind === 'renewal' && before.status === 'open')) {
    const [expected] = due;
    return { faults: expected ? [] : ['exists although neither a pack nor the period had ended'], expected };
  }
  const faults = due[0] ? [`is stored before the ${due[0].cause.case} that was due`] : [];
  const command = context.origins.get(movement.movementId) ?? ownOrigin(movement);
  if (!command) {
    if (!context.isLater) faults.push('does not follow from any decision about the account');
    return { faults, expected: undefined };
  }
  const expected = decide(command, before, moment).find(({ cause }) => cause.case === kind);
  if (!expected) faults.push('has no known cause');
  return { faults, expected };
}

/** Reads the cause of a charge or grant from the movement itself, because no other stream contains it forever. */
function ownOrigin({ amount, cause }: CreditMovement): LedgerCommand | undefined {
  switch (cause.case) {
    case 'charge': {
      const isReading = streamOf(cause.value) === 'EVENTS';
      return { kind: 'charge', ...cause.value, ...(isReading ? { part: cause.value.operation } : {}) };
    }
    case 'grant':
      return { kind: 'grant', credits: amount, ...cause.value };
    case 'packExpiry':
    case 'renewal':
    case 'allowanceChange':
    case undefined:
      return undefined;
  }
}

/** Returns the stream of the charged fact. */
export function streamOf({ reference, checkId, watchId, operation }: Charge): ChargedStream {
  if (reference === checkId) return 'CHECKS';
  if (operation === 'explore') return 'EXPLORES';
  return watchId === '' ? 'LOOKUPS' : 'EVENTS';
}

function differences(found: CreditMovement, expected: CreditMovement): string[] {
  if (equals(CreditMovementSchema, found, expected)) return [];
  const [has, wanted] = [fieldsOf(found), fieldsOf(expected)];
  return [...new Set([...Object.keys(has), ...Object.keys(wanted)])]
    .map((key) => [key, JSON.stringify(has[key]), JSON.stringify(wanted[key])])
    .filter(([, a, b]) => a !== b)
    .map(([key, a, b]) => `has ${key} ${a ?? 'nothing'}, but should have ${b ?? 'nothing'}`);
}

function fieldsOf(movement: CreditMovement): JsonObject {
  const fields = toJson(CreditMovementSchema, movement, { alwaysEmitImplicit: true }) as JsonObject;
  const cause = fields[movement.cause.case ?? ''];
  return { ...fields, ...(cause as JsonObject | undefined), [movement.cause.case ?? '']: null };
}

function uncoveredPart(movement: CreditMovement): string[] {
  const taken = 0 - movement.amount;
  const uncovered = uncoveredCredits(movement);
  if (uncovered === 0) return [];
  return [`took ${taken} for a cost of ${taken + uncovered}: the balance did not cover the rest`];
}

/** Returns the part of a charge's cost that the balance did not cover; 0 for other movements. */
export function uncoveredCredits({ amount, cause }: CreditMovement): number {
  return cause.case === 'charge' ? Math.max(0, cause.value.costCredits + amount) : 0;
}
