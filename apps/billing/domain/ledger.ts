import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { CreditMovementSchema, limitsOf, type CreditMovement } from '#contracts';
import { chargeIdOf, derivedId, isoOf, isStorableTime, Refusal } from '#kernel';
import {
  allowanceLeft,
  creditsOf,
  evolve,
  isOver,
  type LedgerState,
  type OpenLedger,
} from './ledger-state.js';
import { currentPeriod, periodFrom } from './period.js';

/** Work that was done and must be paid. */
export interface ChargeCause {
  /** check, first_scan, x.tweets and the other lookups, semantic_search, analysis, … */
  operation: string;
  /** Empty for work that asks no source. */
  source: string;
  /** Empty for work without a keyword. */
  keywordId: string;
  /** Empty for work without a watch. */
  watchId: string;
  /** Empty for work without a check. */
  checkId: string;
  /** The id of the fact: of a check, a lookup, an event, or the answer of one source to an Explore. */
  reference: string;
  /** Identifies the charge if one fact has several charges. */
  part?: string;
  /** Time of the fact, ISO 8601. */
  at: string;
  costCredits: number;
  /** Credits for one unit. */
  rateCredits: number;
  /** Number of units. */
  units: number;
  priceBookVersion: string;
}

/** A pack of credits to add. */
export interface GrantedPack {
  credits: number;
  /** ISO 8601; empty if the pack does not expire. */
  expiresAt: string;
  /** The reason for the grant, in the words of the person who made it. */
  note: string;
}

/** The commands that change credits. The caller omits commands that were already applied: see `movementIdOf`. */
export type LedgerCommand =
  | { kind: 'open'; plan: string; at: string }
  | ({ kind: 'charge' } & ChargeCause)
  | ({ kind: 'grant'; packId: string } & GrantedPack)
  | { kind: 'change-plan'; changeId: string; plan: string }
  /** Applies only the renewals and expiries that are due. */
  | { kind: 'renew' };

/** The account of the ledger, and the time of the decision. */
export interface Moment {
  accountId: string;
  /** ISO 8601 */
  now: string;
}

/** Maximum number of credits in one pack. */
const MAX_CREDITS = 1_000_000_000_000;
const MAX_NOTE_LENGTH = 200;

/**
 * Returns the id of the command's movement. The same cause always has the same id. Returns undefined for `renew`, whose
 * movements depend on the state.
 */
export function movementIdOf(command: LedgerCommand, accountId: string): string | undefined {
  switch (command.kind) {
    case 'open':
      return renewalId(accountId, command.at);
    case 'charge':
      return chargeIdOf(command.reference, command.part);
    case 'grant':
      return derivedId('grant', accountId, command.packId);
    case 'change-plan':
      return derivedId('allowance-change', command.changeId);
    case 'renew':
      return undefined;
  }
}

/**
 * Executes the command. Before and after the command, applies the renewals and expiries that are due. The balance never
 * goes below zero: a charge that is larger than the balance takes only the available credits. A charge without a cost,
 * and `open` on an open ledger, add no movement.
 * @throws Refusal `not-found` while the ledger is not open, except for `open` and `renew`; `invalid` for a grant that
 * is not possible
 */
export function decide(command: LedgerCommand, state: LedgerState, moment: Moment): CreditMovement[] {
  const due = dueMovements(state, moment);
  const current = due.reduce(evolve, state);
  const movement = movementOf(command, current, moment);
  if (!movement) return due;
  return [...due, movement, ...dueMovements(evolve(current, movement), moment)];
}

/** Does the same as `decide` for several commands, one after another. */
export function decideAll(
  commands: readonly LedgerCommand[],
  before: LedgerState,
  moment: Moment,
): CreditMovement[] {
  const movements: CreditMovement[] = [];
  let state = before;
  for (const command of commands)
    for (const movement of decide(command, state, moment)) {
      movements.push(movement);
      state = evolve(state, movement);
    }
  return movements;
}

/** Returns the movements that are due: expiries of packs, and renewals. */
function dueMovements(state: LedgerState, { accountId, now }: Moment): CreditMovement[] {
  const found: CreditMovement[] = [];
  let ledger = state;
  while (ledger.status === 'open') {
    const movement = expiry(ledger, accountId, now) ?? renewal(ledger, accountId, now);
    if (!movement) break;
    found.push(movement);
    ledger = evolve(ledger, movement);
  }
  return found;
}

function expiry(ledger: OpenLedger, accountId: string, now: string): CreditMovement | undefined {
  const pack = ledger.packs[0];
  if (!pack || pack.expiresAt === null || !isOver(pack.expiresAt, now)) return undefined;
  return movement(ledger, derivedId('pack-expiry', accountId, pack.id), 0 - pack.remaining, {
    case: 'packExpiry',
    value: { packId: pack.id },
  });
}

/** Returns the renewal of the next period, if the current period is over. */
function renewal(ledger: OpenLedger, accountId: string, now: string): CreditMovement | undefined {
  if (!isOver(ledger.periodEnd, now)) return undefined;
  const { start, end } = currentPeriod(ledger.openedAt, ledger.periodEnd);
  const { plan } = ledger;
  const allowanceCredits = limitsOf(plan).monthlyCredits;
  return movement(ledger, renewalId(accountId, start), allowanceCredits - allowanceLeft(ledger), {
    case: 'renewal',
    value: { plan, periodStart: start, periodEnd: end, allowanceCredits },
  });
}

function movementOf(
  command: LedgerCommand,
  state: LedgerState,
  { accountId, now }: Moment,
): CreditMovement | undefined {
  const id = movementIdOf(command, accountId) ?? '';
  switch (command.kind) {
    case 'open':
      return state.status === 'open' ? undefined : opening(id, command.plan, command.at);
    case 'charge':
      return charge(requireOpen(state), id, command);
    case 'grant':
      return grant(requireOpen(state), id, command.packId, validated(command, requireOpen(state), now));
    case 'change-plan': {
      const ledger = requireOpen(state);
      const { plan } = command;
      const allowanceCredits = limitsOf(plan).monthlyCredits;
      const remaining = Math.max(0, allowanceCredits - ledger.allowanceUsed);
      const value = { plan, allowanceCredits };
      return movement(ledger, id, remaining - allowanceLeft(ledger), { case: 'allowanceChange', value });
    }
    case 'renew':
      return undefined;
  }
}

/** Returns the renewal with which the first period begins. Each later period begins with a renewal too. */
function opening(movementId: string, plan: string, at: string): CreditMovement {
  const { start, end } = periodFrom(at, 0);
  const allowanceCredits = limitsOf(plan).monthlyCredits;
  return create(CreditMovementSchema, {
    movementId,
    amount: allowanceCredits,
    balanceAfter: allowanceCredits,
    cause: { case: 'renewal', value: { plan, periodStart: start, periodEnd: end, allowanceCredits } },
  });
}

function charge(ledger: OpenLedger, id: string, cause: ChargeCause): CreditMovement | undefined {
  if (cause.costCredits <= 0) return undefined;
  const draws: { packId: string; credits: number }[] = [];
  let uncovered = cause.costCredits;
  for (const { id: packId, remaining } of [{ id: '', remaining: allowanceLeft(ledger) }, ...ledger.packs]) {
    const credits = Math.min(uncovered, remaining);
    if (credits > 0) draws.push({ packId, credits });
    uncovered -= credits;
  }
  const { operation, source, keywordId, watchId, checkId, reference } = cause;
  const { at, costCredits, rateCredits, units, priceBookVersion } = cause;
  return movement(ledger, id, uncovered - costCredits, {
    case: 'charge',
    value: {
      operation,
      source,
      keywordId,
      watchId,
      checkId,
      reference,
      at,
      costCredits,
      rateCredits,
      units,
      priceBookVersion,
      draws,
    },
  });
}

function grant(ledger: OpenLedger, id: string, packId: string, pack: GrantedPack): CreditMovement {
  const { credits, expiresAt, note } = pack;
  return movement(ledger, id, credits, { case: 'grant', value: { packId, expiresAt, note } });
}

/** Validates a pack. @returns the pack with its expiry as ISO 8601 in UTC @throws Refusal `invalid` */
function validated(pack: GrantedPack, ledger: OpenLedger, now: string): GrantedPack {
  const { credits, expiresAt, note } = pack;
  const end = Date.parse(expiresAt);
  const faults = [];
  if (!Number.isSafeInteger(credits) || credits < 1 || credits > MAX_CREDITS)
    faults.push({ path: 'amount', message: `must be a whole number from 1 to ${MAX_CREDITS}` });
  else if (!Number.isSafeInteger(creditsOf(ledger) + credits))
    faults.push({ path: 'amount', message: 'is more than the account can hold' });
  if (expiresAt !== '' && !(end > Date.parse(now) && isStorableTime(end)))
    faults.push({ path: 'expires_at', message: 'must be an ISO 8601 date-time in the future' });
  if (note.length > MAX_NOTE_LENGTH)
    faults.push({ path: 'note', message: `must have at most ${MAX_NOTE_LENGTH} characters` });
  if (faults.length > 0) throw Refusal.validation(faults);
  return { ...pack, expiresAt: expiresAt === '' ? '' : isoOf(end) };
}

function movement(
  ledger: OpenLedger,
  movementId: string,
  amount: number,
  cause: MessageInitShape<typeof CreditMovementSchema>['cause'],
): CreditMovement {
  return create(CreditMovementSchema, {
    movementId,
    amount,
    balanceAfter: creditsOf(ledger) + amount,
    cause,
  });
}

function requireOpen(state: LedgerState): OpenLedger {
  if (state.status === 'none') throw Refusal.notFound('account');
  return state;
}

function renewalId(accountId: string, periodStart: string): string {
  return derivedId('renewal', accountId, periodStart);
}
