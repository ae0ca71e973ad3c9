import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { CreditMovementSchema, limitsOf, type CreditMovement } from '#contracts';
import { chargeIdOf, derivedId, isoOf, Refusal } from '#kernel';
import {
  allowanceLeft,
  creditsOf,
  evolve,
  isOver,
  type LedgerState,
  type OpenLedger,
} from './ledger-state.js';
import { currentPeriod, periodFrom } from './period.js';

/** Work that was done and is to be paid. */
export interface ChargeCause {
  /** check, first_scan, x.tweets and the other lookups, analysis, … */
  operation: string;
  source: string;
  /** Empty, as the two behind it, where there is none. */
  keywordId: string;
  watchId: string;
  checkId: string;
  /** The id of the fact: a check's, a lookup's, an event's. */
  reference: string;
  /** Which of its charges, where one fact has several. */
  part?: string;
  /** When the fact happened. */
  at: string;
  costCredits: number;
  /** Credits for one unit, and how many units. */
  rateCredits: number;
  units: number;
  priceBookVersion: string;
}

/** A pack to be given. */
export interface GrantedPack {
  credits: number;
  /** Empty: never. */
  expiresAt: string;
  /** Why, in the giver's words. */
  note: string;
}

/** What moves credits. Whoever asks leaves out what has moved them already: see `movementIdOf`. */
export type LedgerCommand =
  | { kind: 'open'; plan: string; at: string }
  | ({ kind: 'charge' } & ChargeCause)
  | ({ kind: 'grant'; packId: string } & GrantedPack)
  | { kind: 'change-plan'; changeId: string; plan: string }
  /** Nothing but the passing of time. */
  | { kind: 'turn' };

/** Whose ledger it is, and the instant of the decision. */
export interface Moment {
  accountId: string;
  now: string;
}

/** The most that one pack holds. */
const MOST_CREDITS = 1_000_000_000_000;
const LONGEST_NOTE = 200;

/**
 * The id of the movement that follows from the command: the same cause always has the same. Undefined for the mere
 * passing of time, whose movements are bound to the state.
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
    case 'turn':
      return undefined;
  }
}

/**
 * Applies the renewals and expiries up to now, then executes the command. The balance never goes below zero: a charge
 * that it does not cover takes only the available credits.
 * @throws Refusal `not-found` while the ledger is not open, `invalid` for a grant that cannot be
 */
export function decide(command: LedgerCommand, state: LedgerState, moment: Moment): CreditMovement[] {
  const passed = passing(state, moment);
  const present = passed.reduce(evolve, state);
  const movement = movementOf(command, present, moment);
  if (!movement) return passed;
  return [...passed, movement, ...passing(evolve(present, movement), moment)];
}

/** As `decide`, for one command after another. */
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

/** What time has brought since the ledger was last looked at: packs that expired, and the periods that began. */
function passing(state: LedgerState, { accountId, now }: Moment): CreditMovement[] {
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

/** Of the next period; where several were missed, each has its own. */
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
      return grant(requireOpen(state), id, command.packId, checked(command, requireOpen(state), now));
    case 'change-plan': {
      const ledger = requireOpen(state);
      const { plan } = command;
      const allowanceCredits = limitsOf(plan).monthlyCredits;
      const left = Math.max(0, allowanceCredits - ledger.allowanceUsed);
      const value = { plan, allowanceCredits };
      return movement(ledger, id, left - allowanceLeft(ledger), { case: 'allowanceChange', value });
    }
    case 'turn':
      return undefined;
  }
}

/** The first period begins with a renewal like every other. */
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
  let open = cause.costCredits;
  for (const { id: packId, remaining } of [{ id: '', remaining: allowanceLeft(ledger) }, ...ledger.packs]) {
    const credits = Math.min(open, remaining);
    if (credits > 0) draws.push({ packId, credits });
    open -= credits;
  }
  const { operation, source, keywordId, watchId, checkId, reference } = cause;
  const { at, costCredits, rateCredits, units, priceBookVersion } = cause;
  return movement(ledger, id, open - costCredits, {
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

/** With its end in the one spelling of a time. */
function checked(pack: GrantedPack, ledger: OpenLedger, now: string): GrantedPack {
  const { credits, expiresAt, note } = pack;
  const end = Date.parse(expiresAt);
  const faults = [];
  if (!Number.isSafeInteger(credits) || credits < 1 || credits > MOST_CREDITS)
    faults.push({ path: 'amount', message: `must be a whole number from 1 to ${MOST_CREDITS}` });
  else if (!Number.isSafeInteger(creditsOf(ledger) + credits))
    faults.push({ path: 'amount', message: 'is more than the account can hold' });
  if (expiresAt !== '' && !(end > Date.parse(now) && end <= LAST_INSTANT))
    faults.push({ path: 'expires_at', message: 'must be an ISO 8601 date-time in the future' });
  if (note.length > LONGEST_NOTE)
    faults.push({ path: 'note', message: `must have at most ${LONGEST_NOTE} characters` });
  if (faults.length > 0) throw Refusal.validation(faults);
  return { ...pack, expiresAt: expiresAt === '' ? '' : isoOf(end) };
}

/** Years of more digits are spelled in another way. */
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

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
