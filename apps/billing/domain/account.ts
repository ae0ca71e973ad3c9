import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { AccountEventSchema, isPlan, PLANS, type AccountEvent } from '#contracts';
import { isoOf, Refusal, type Fault } from '#kernel';

/** An account as its decisions see it. */
export type AccountState =
  { status: 'none' } | { status: 'open'; plan: string; keys: ReadonlyMap<string, 'active' | 'revoked'> };

export const noAccount: AccountState = { status: 'none' };

/** What can be asked of an account. Secrets arrive hashed or encrypted, ids and times with the command. */
export type AccountCommand =
  | { kind: 'open'; email: string; plan: string; signingSecretEncrypted: Uint8Array; key: NewKey }
  | { kind: 'create-key'; key: NewKey; now: string }
  | { kind: 'revoke-key'; keyId: string }
  | { kind: 'change-plan'; plan: string };

export interface NewKey {
  keyId: string;
  name: string;
  keyHash: Uint8Array;
  /** `read` or `write` */
  scope: string;
  /** ISO 8601; empty: never. */
  expiresAt: string;
}

/** @throws Refusal when the account, the plan, the scope or the key does not allow it */
export function decide(command: AccountCommand, state: AccountState): AccountEvent[] {
  switch (command.kind) {
    case 'open':
      if (state.status === 'open') throw Refusal.conflict('the account exists already');
      return [opened(command), keyCreated(checked(command.key))];
    case 'create-key':
      requireOpen(state);
      return [
        keyCreated(checked({ ...command.key, expiresAt: expiryOf(command.key.expiresAt, command.now) })),
      ];
    case 'revoke-key': {
      const key = requireOpen(state).keys.get(command.keyId);
      if (!key) throw Refusal.notFound('key');
      if (key === 'revoked') return [];
      return [event({ case: 'apiKeyRevoked', value: { keyId: command.keyId } })];
    }
    case 'change-plan': {
      const { plan } = requireOpen(state);
      const faults = planFaults(command.plan);
      if (faults.length > 0) throw Refusal.validation(faults);
      return plan === command.plan ? [] : [event({ case: 'planChanged', value: { plan: command.plan } })];
    }
  }
}

/** The account after the event. */
export function evolve(state: AccountState, { event }: AccountEvent): AccountState {
  switch (event.case) {
    case 'accountOpened':
      return { status: 'open', plan: event.value.plan, keys: new Map() };
    case 'apiKeyCreated':
      return withKey(state, event.value.keyId, 'active');
    case 'apiKeyRevoked':
      return withKey(state, event.value.keyId, 'revoked');
    case 'planChanged':
      return state.status === 'none' ? state : { ...state, plan: event.value.plan };
    case undefined:
      return state;
  }
}

function withKey(state: AccountState, keyId: string, standing: 'active' | 'revoked'): AccountState {
  return state.status === 'none' ? state : { ...state, keys: new Map(state.keys).set(keyId, standing) };
}

function requireOpen(state: AccountState) {
  if (state.status === 'none') throw Refusal.notFound('account');
  return state;
}

/** In the one spelling of a time: a table must be able to hold it. */
function expiryOf(text: string, now: string): string {
  if (text === '') return '';
  const at = Date.parse(text);
  if (!(at > Date.parse(now)))
    throw Refusal.validation([
      { path: 'expires_at', message: 'must be an ISO 8601 date-time in the future' },
    ]);
  return isoOf(at);
}

function checked(key: NewKey): NewKey {
  if (key.scope !== 'read' && key.scope !== 'write')
    throw Refusal.validation([{ path: 'scope', message: 'must be read or write' }]);
  return key;
}

function opened(command: Extract<AccountCommand, { kind: 'open' }>): AccountEvent {
  const faults = planFaults(command.plan);
  if (!/^[^\s@]+@[^\s@]+$/.test(command.email))
    faults.push({ path: 'email', message: 'must be an e-mail address' });
  if (faults.length > 0) throw Refusal.validation(faults);
  const { email, plan, signingSecretEncrypted } = command;
  return event({ case: 'accountOpened', value: { email, plan, signingSecretEncrypted } });
}

function planFaults(plan: string): Fault[] {
  return isPlan(plan) ? [] : [{ path: 'plan', message: `must be one of ${PLANS.join(', ')}` }];
}

function keyCreated(key: NewKey): AccountEvent {
  return event({ case: 'apiKeyCreated', value: { ...key } });
}

function event(init: MessageInitShape<typeof AccountEventSchema>['event']): AccountEvent {
  return create(AccountEventSchema, { event: init });
}
