import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { AccountEventSchema, type AccountEvent } from '#contracts';
import { instantIn, isoOf, isStorableTime, Refusal } from '#kernel';

/** The API keys of an account, by id, as its decisions need them. */
export type KeysState = ReadonlyMap<string, KeyState>;

interface KeyState {
  status: 'active' | 'revoked';
  name: string;
  keyHash: Uint8Array;
  /** The member who created the key; empty if it was created with the command line. */
  memberId: string;
  /** Maximum credits per UTC day through MCP; undefined: the gateway's setting applies. */
  mcpDailyCredits: number | undefined;
}

/** A key that a command creates. */
export interface NewKey {
  keyId: string;
  name: string;
  keyHash: Uint8Array;
  /** `read` or `write` */
  scope: string;
  /** ISO 8601; empty if the key does not expire. */
  expiresAt: string;
  /** The member who creates the key; empty if it is created with the command line. */
  memberId: string;
  /** Maximum credits per UTC day through MCP; undefined: the gateway's setting applies. */
  mcpDailyCredits?: number | undefined;
}

/** The state of an account without keys. */
export const noKeys: KeysState = new Map();

/** The commands on API keys. A handler has already hashed the keys, and has added ids and times. */
export type KeyCommand =
  | { kind: 'create-key'; key: NewKey; now: string }
  /** If `ofMember` is not empty, this command and the next two do not find the keys of other members. */
  | { kind: 'rename-key'; keyId: string; name: string; ofMember: string }
  | { kind: 'revoke-key'; keyId: string; ofMember: string }
  | { kind: 'limit-key'; keyId: string; mcpDailyCredits: number | undefined; ofMember: string };

const KINDS: Readonly<Record<KeyCommand['kind'], true>> = {
  'create-key': true,
  'rename-key': true,
  'revoke-key': true,
  'limit-key': true,
};

/** Returns whether the command is a command on API keys. */
export function isKeyCommand(command: { kind: string }): command is KeyCommand {
  return Object.hasOwn(KINDS, command.kind);
}

/** Maximum number of keys of one account that are not revoked. Expired keys count too. */
const MAX_KEYS = 200;
const MAX_KEY_NAME_LENGTH = 80;
/** Maximum daily limit of a key for MCP: the credits of the largest plan in a month. */
const MAX_DAILY_CREDITS = 1_000_000_000;

/**
 * Returns the events of a command on API keys.
 * @throws Refusal if the keys do not allow the command, or if a value of the command is not valid
 */
export function decideKeys(command: KeyCommand, keys: KeysState): AccountEvent[] {
  switch (command.kind) {
    case 'create-key': {
      if ([...keys.values()].filter(({ status }) => status === 'active').length >= MAX_KEYS)
        throw Refusal.conflict(`the account has ${MAX_KEYS} keys that are not revoked; revoke one first`);
      return [createKey({ ...command.key, expiresAt: expiryOf(command.key.expiresAt, command.now) })];
    }
    case 'rename-key': {
      const { keyId, name } = command;
      const key = keyOf(keys, keyId, command.ofMember);
      checkName(name);
      return key.name === name ? [] : [event({ case: 'apiKeyRenamed', value: { keyId, name } })];
    }
    case 'limit-key': {
      const { keyId, mcpDailyCredits } = command;
      const key = keyOf(keys, keyId, command.ofMember);
      checkLimit(mcpDailyCredits);
      if (key.mcpDailyCredits === mcpDailyCredits) return [];
      const limit = mcpDailyCredits === undefined ? {} : { mcpDailyCredits };
      return [event({ case: 'apiKeyLimited', value: { keyId, ...limit } })];
    }
    case 'revoke-key': {
      const { status } = keyOf(keys, command.keyId, command.ofMember);
      return status === 'revoked' ? [] : [keyRevoked(command.keyId)];
    }
  }
}

/** Returns the keys after the event. */
export function evolveKeys(keys: KeysState, event: KeyEvent): KeysState {
  switch (event.case) {
    case 'apiKeyCreated': {
      const { keyId, name, keyHash, memberId, mcpDailyCredits } = event.value;
      return withKey(keys, keyId, { status: 'active', name, keyHash, memberId, mcpDailyCredits });
    }
    case 'apiKeyLimited':
      return withKey(keys, event.value.keyId, { mcpDailyCredits: event.value.mcpDailyCredits });
    case 'apiKeyRenamed':
      return withKey(keys, event.value.keyId, { name: event.value.name });
    case 'apiKeyRevoked':
      return withKey(keys, event.value.keyId, { status: 'revoked' });
  }
}

type KeyEvent = Extract<
  AccountEvent['event'],
  { case: 'apiKeyCreated' | 'apiKeyLimited' | 'apiKeyRenamed' | 'apiKeyRevoked' }
>;

function withKey(keys: KeysState, keyId: string, change: Partial<KeyState>): KeysState {
  const key = keys.get(keyId) ?? {
    status: 'active',
    name: '',
    keyHash: new Uint8Array(),
    memberId: '',
    mcpDailyCredits: undefined,
  };
  return new Map(keys).set(keyId, { ...key, ...change });
}

/** Returns the events that revoke the active keys of a member. */
export function revokeKeysOf(memberId: string, keys: KeysState): AccountEvent[] {
  return [...keys]
    .filter(([, key]) => key.memberId === memberId && key.status === 'active')
    .map(([keyId]) => keyRevoked(keyId));
}

/** @throws Refusal `not-found` */
function keyOf(keys: KeysState, keyId: string, ofMember: string): KeyState {
  const key = keys.get(keyId);
  if (!key || (ofMember !== '' && key.memberId !== ofMember)) throw Refusal.notFound('key');
  return key;
}

/** Returns the expiry as ISO 8601 in UTC; empty if the key does not expire. @throws Refusal `invalid` */
function expiryOf(text: string, now: string): string {
  if (text === '') return '';
  const at = instantIn(text, 'UTC');
  if (!(at > Date.parse(now) && isStorableTime(at)))
    throw Refusal.validation([
      { path: 'expires_at', message: 'must be an ISO 8601 date-time in the future' },
    ]);
  return isoOf(at);
}

/** Returns the event that creates a key. @throws Refusal if the scope, the name or the limit is not valid */
export function createKey(key: NewKey): AccountEvent {
  if (key.scope !== 'read' && key.scope !== 'write')
    throw Refusal.validation([{ path: 'scope', message: 'must be read or write' }]);
  checkName(key.name);
  checkLimit(key.mcpDailyCredits);
  return event({ case: 'apiKeyCreated', value: { ...key } });
}

function checkLimit(mcpDailyCredits: number | undefined): void {
  if (mcpDailyCredits !== undefined && !(mcpDailyCredits >= 0 && mcpDailyCredits <= MAX_DAILY_CREDITS))
    throw Refusal.validation([
      { path: 'mcp_daily_credits', message: `must be 0 to ${MAX_DAILY_CREDITS}, or null` },
    ]);
}

function checkName(name: string): void {
  if (name.trim() === '' || name.length > MAX_KEY_NAME_LENGTH)
    throw Refusal.validation([{ path: 'name', message: `must have 1 to ${MAX_KEY_NAME_LENGTH} characters` }]);
}

function keyRevoked(keyId: string): AccountEvent {
  return event({ case: 'apiKeyRevoked', value: { keyId } });
}

function event(init: MessageInitShape<typeof AccountEventSchema>['event']): AccountEvent {
  return create(AccountEventSchema, { event: init });
}
