import { movementIdOf, type LedgerCommand } from '../../billing/domain/ledger.js';
import type { AuditInput } from './audit-input.js';

/** What movements are derived from, by the ids of the movements. */
export type Origins = ReadonlyMap<string, LedgerCommand>;

/**
 * Facts and decisions about the account. A fact that was stated twice under one id counts as it was stated first: it
 * was charged then.
 */
export function originsOf({ accountId, facts, accountFacts }: AuditInput): Origins {
  const commands = [
    ...facts.flatMap(({ causes }) => causes.map((cause): LedgerCommand => ({ kind: 'charge', ...cause }))),
    ...accountFacts.map(({ command }) => command),
  ];
  const origins = new Map<string, LedgerCommand>();
  for (const command of commands) {
    const id = movementIdOf(command, accountId) ?? '';
    if (!origins.has(id)) origins.set(id, command);
  }
  return origins;
}
