import type { Charge } from '#contracts';
import { movementIdOf } from '../../billing/domain/ledger.js';
import type { AuditInput } from './audit-input.js';
import { streamOf } from './movement-faults.js';

/** A charge in the ledger, and its message. */
interface Charged {
  seq: number;
  charge: Charge;
}

/**
 * Checks that facts and decisions about the account have their movements, and that each charge has a fact. Facts that
 * billing has not read yet, and charges whose fact is too old or was purged, are notes and not faults.
 */
export function auditFacts(
  input: AuditInput,
  movementIds: ReadonlySet<string>,
): { faults: string[]; notes: string[]; charges: number } {
  const charges = chargesIn(input);
  const faults: string[] = [];
  const explained = new Set<string>();
  let pending = 0;
  for (const { stream, seq, causes } of input.facts)
    for (const cause of causes) {
      const id = movementIdOf({ kind: 'charge', ...cause }, input.accountId) ?? '';
      const found = charges.get(id);
      if (explained.has(id)) continue;
      explained.add(id);
      if (found) continue;
      if (seq > input.followed[stream]) pending += 1;
      else faults.push(`${nameOf(cause)} cost ${cause.costCredits} and was never charged`);
    }
  for (const { seq, command } of input.accountFacts) {
    if (movementIds.has(movementIdOf(command, input.accountId) ?? '')) continue;
    if (seq > input.followed.ACCOUNTS) pending += 1;
    else faults.push(`the ledger has no movement for "${command.kind}" (message ${seq} of ACCOUNTS)`);
  }
  const rest = [...charges].filter(([id, { seq }]) => !explained.has(id) && seq <= input.chargedBefore);
  let [purged, old] = [0, 0];
  for (const [, { charge }] of rest) {
    if (isPurged(charge, input)) purged += 1;
    else if (Date.parse(charge.at) < input.keptSince[streamOf(charge)]) old += 1;
    else faults.push(`${nameOf(charge)} was charged ${charge.costCredits}, but there is no such fact`);
  }
  const notes = [
    [pending, 'facts that are not charged yet, because billing is behind'],
    [old, 'charges of facts that the streams no longer keep'],
    [purged, 'charges of purged keywords, whose facts were deleted'],
  ].flatMap(([count, text]) => (count ? [`${text}: ${count}`] : []));
  return { faults, notes, charges: charges.size };
}

function chargesIn({ decisions }: AuditInput): Map<string, Charged> {
  return new Map(
    decisions.flatMap(({ seq, decision }) =>
      decision.movements.flatMap(({ movementId, cause }): [string, Charged][] =>
        cause.case === 'charge' ? [[movementId, { seq, charge: cause.value }]] : [],
      ),
    ),
  );
}

function nameOf({
  operation,
  source,
  reference,
  at,
}: Pick<Charge, 'operation' | 'source' | 'reference' | 'at'>) {
  return `${operation} ${reference} on ${source} at ${at}`;
}

function isPurged({ keywordId, watchId }: Charge, { existing }: AuditInput): boolean {
  const owner = keywordId || watchId;
  return owner !== '' && !existing.has(owner);
}
