import { movementIdOf, type LedgerCommand } from '../../billing/domain/ledger.js';
import type { AuditInput } from './audit-input.js';

/** The commands from which movements follow, by movement id. */
export type Origins = ReadonlyMap<string, LedgerCommand>;

/**
 * Returns the commands that follow from facts and from decisions about the account. If a fact was published twice under
 * one id, the first fact is used, because billing has charged the first one.
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
