import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { AccountEventSchema, isPlan, PLANS, type AccountEvent } from '#contracts';
import { isoOf, isTimeZone, Refusal, type Fault } from '#kernel';
import {
  createKey,
  decideKeys,
  evolveKeys,
  isKeyCommand,
  noKeys,
  revokeKeysOf,
  type KeyCommand,
  type KeysState,
  type NewKey,
} from './api-keys.js';
import {
  addressFaults,
  decideMembers,
  evolveMembers,
  isMemberCommand,
  noMembers,
  type MemberCommand,
  type MembersState,
} from './members.js';

/** The state of an account for its decisions. */
export type AccountState = { status: 'none' } | OpenAccountState;

interface OpenAccountState {
  status: 'open';
  plan: string;
  keys: KeysState;
  members: MembersState;
  signatureVersion: SignatureVersion;
  /** Empty if the account has no name. */
  name: string;
  /** IANA name. */
  timezone: string;
  /** Encrypted with MASTER_KEY. */
  signingSecret: Uint8Array;
  /** The secret before the last rotation, encrypted; empty if there was no rotation. */
  previousSigningSecret: Uint8Array;
  /** ISO 8601; empty if there was no rotation. */
  previousValidUntil: string;
}

/** The forms of X-Signature: `t=<unix>,v1=<hex>`, or only the plain hex of the body's signature. */
export const SIGNATURE_VERSIONS = ['v1', 'legacy'] as const;
/** One of `SIGNATURE_VERSIONS`. */
export type SignatureVersion = (typeof SIGNATURE_VERSIONS)[number];

/** For this time after a rotation, deliveries also have a signature with the previous secret. */
const PREVIOUS_SECRET_VALID_MS = 24 * 60 * 60 * 1000;

/** The state before the account is opened. */
export const noAccount: AccountState = { status: 'none' };

/** The commands on an account. A handler has hashed or encrypted the secrets, and added new ids and times. */
export type AccountCommand =
  | {
      kind: 'open';
      email: string;
      plan: string;
      /** Empty if the account gets no name. */
      name: string;
      signingSecretEncrypted: Uint8Array;
      /** The command line gives the account a first key; a sign-up gives it an owner. */
      with: { key: NewKey } | { owner: { memberId: string; passwordHash: string } };
    }
  | KeyCommand
  | MemberCommand
  | { kind: 'change-plan'; plan: string }
  | { kind: 'change-account'; settings: AccountSettings }
  | { kind: 'rotate-signing-secret'; signingSecretEncrypted: Uint8Array; now: string }
  /** `reseal` encrypts a secret with the current master key; undefined if this key has already encrypted it. */
  | { kind: 'reseal-secrets'; reseal: (sealed: Uint8Array) => Uint8Array | undefined };

/** The settings of an account; undefined means unchanged. */
export interface AccountSettings {
  signatureVersion?: string | undefined;
  name?: string | undefined;
  timezone?: string | undefined;
}

/**
 * Returns the events that a command causes.
 * @throws Refusal if the state of the account does not allow the command, or if a value of the command is not valid
 */
export function decide(command: AccountCommand, state: AccountState): AccountEvent[] {
  if (isMemberCommand(command)) return membersDecided(command, requireOpen(state));
  if (isKeyCommand(command)) return keysDecided(command, requireOpen(state));
  switch (command.kind) {
    case 'open':
      if (state.status === 'open') throw Refusal.conflict('the account already exists');
      return opened(command);
    case 'change-plan': {
      const { plan } = requireOpen(state);
      const faults = planFaults(command.plan);
      if (faults.length > 0) throw Refusal.validation(faults);
      return plan === command.plan ? [] : [event({ case: 'planChanged', value: { plan: command.plan } })];
    }
    case 'change-account':
      return settingsChanged(requireOpen(state), command.settings);
    case 'rotate-signing-secret': {
      requireOpen(state);
      const previousValidUntil = isoOf(Date.parse(command.now) + PREVIOUS_SECRET_VALID_MS);
      const { signingSecretEncrypted } = command;
      return [event({ case: 'signingSecretRotated', value: { signingSecretEncrypted, previousValidUntil } })];
    }
    case 'reseal-secrets':
      return resealed(requireOpen(state), command.reseal);
  }
}

/** Returns the state after the event. */
export function evolve(state: AccountState, { event }: AccountEvent): AccountState {
  switch (event.case) {
    case 'accountOpened':
      return {
        status: 'open',
        plan: event.value.plan,
        keys: noKeys,
        members: noMembers,
        signatureVersion: 'v1',
        name: '',
        timezone: 'UTC',
        signingSecret: event.value.signingSecretEncrypted,
        previousSigningSecret: new Uint8Array(),
        previousValidUntil: '',
      };
    case 'apiKeyCreated':
    case 'apiKeyLimited':
    case 'apiKeyRenamed':
    case 'apiKeyRevoked':
      return state.status === 'none' ? state : changed(state, { keys: evolveKeys(state.keys, event) });
    case 'invitationCreated':
    case 'invitationRevoked':
    case 'memberJoined':
    case 'memberRoleChanged':
    case 'memberRemoved':
    case 'passwordChanged':
      return state.status === 'none'
        ? state
        : changed(state, { members: evolveMembers(state.members, event) });
    case 'planChanged':
      return changed(state, { plan: event.value.plan });
    case 'signingSecretRotated':
      if (state.status === 'none') return state;
      return {
        ...state,
        signingSecret: event.value.signingSecretEncrypted,
        previousSigningSecret: state.signingSecret,
        previousValidUntil: event.value.previousValidUntil,
      };
    case 'secretsResealed':
      return changed(state, {
        signingSecret: event.value.signingSecretEncrypted,
        previousSigningSecret: event.value.previousSigningSecretEncrypted,
      });
    case 'accountChanged': {
      if (state.status === 'none') return state;
      const { signatureVersion, name = state.name, timezone = state.timezone } = event.value;
      const version = isSignatureVersion(signatureVersion) ? signatureVersion : state.signatureVersion;
      return { ...state, signatureVersion: version, name, timezone };
    }
    case undefined:
      return state;
  }
}

function changed(state: AccountState, change: Partial<OpenAccountState>): AccountState {
  return state.status === 'none' ? state : { ...state, ...change };
}

/** Decides a command on members. If a member is removed, revokes the member's keys. */
function membersDecided(command: MemberCommand, { members, keys }: OpenAccountState): AccountEvent[] {
  const events = decideMembers(command, members);
  if (command.kind !== 'remove-member' || events.length === 0) return events;
  return [...events, ...revokeKeysOf(command.memberId, keys)];
}

/**
 * Decides a command on keys. The gateway checked the member before the command. Meanwhile the member can have been removed,
 * and a key of a removed member would never be revoked.
 */
function keysDecided(command: KeyCommand, { members, keys }: OpenAccountState): AccountEvent[] {
  const memberId = command.kind === 'create-key' ? command.key.memberId : '';
  if (memberId !== '' && !members.members.has(memberId))
    throw new Refusal('forbidden', 'FORBIDDEN', 'only a member of the account can create a key');
  return decideKeys(command, keys);
}

function resealed(
  { signingSecret, previousSigningSecret }: OpenAccountState,
  reseal: (sealed: Uint8Array) => Uint8Array | undefined,
): AccountEvent[] {
  const current = reseal(signingSecret);
  const previous = previousSigningSecret.length > 0 ? reseal(previousSigningSecret) : undefined;
  if (!current && !previous) return [];
  return [
    event({
      case: 'secretsResealed',
      value: {
        signingSecretEncrypted: current ?? signingSecret,
        previousSigningSecretEncrypted: previous ?? previousSigningSecret,
      },
    }),
  ];
}

/** Decides a change of settings. The event contains only the values that differ. */
function settingsChanged(state: OpenAccountState, settings: AccountSettings): AccountEvent[] {
  const faults = settingFaults(settings);
  if (faults.length > 0) throw Refusal.validation(faults);
  const keys = ['signatureVersion', 'name', 'timezone'] as const;
  const changes = keys.filter((key) => settings[key] !== undefined && settings[key] !== state[key]);
  if (changes.length === 0) return [];
  const value = Object.fromEntries(changes.map((key) => [key, settings[key]]));
  return [event({ case: 'accountChanged', value })];
}

const MAX_NAME_LENGTH = 80;

function settingFaults({ signatureVersion, name, timezone }: AccountSettings): Fault[] {
  const faults: Fault[] = [];
  if (signatureVersion !== undefined && !isSignatureVersion(signatureVersion))
    faults.push({ path: 'signature_version', message: `must be one of ${SIGNATURE_VERSIONS.join(', ')}` });
  if (name !== undefined && name.length > MAX_NAME_LENGTH)
    faults.push({ path: 'name', message: `must be at most ${MAX_NAME_LENGTH} characters` });
  if (timezone !== undefined && !isTimeZone(timezone))
    faults.push({ path: 'timezone', message: 'must be an IANA time zone, for example Europe/Berlin' });
  return faults;
}

function isSignatureVersion(text: string | undefined): text is SignatureVersion {
  return SIGNATURE_VERSIONS.some((version) => version === text);
}

/** Returns the state of an open account. @throws Refusal `not-found` if there is no account */
export function requireOpen(state: AccountState): OpenAccountState {
  if (state.status === 'none') throw Refusal.notFound('account');
  return state;
}

function opened(command: Extract<AccountCommand, { kind: 'open' }>): AccountEvent[] {
  const { email, plan, name, signingSecretEncrypted } = command;
  const faults = [...planFaults(plan), ...addressFaults(email), ...settingFaults({ name })];
  if (faults.length > 0) throw Refusal.validation(faults);
  return [
    event({ case: 'accountOpened', value: { email, plan, signingSecretEncrypted } }),
    ...(name === '' ? [] : [event({ case: 'accountChanged', value: { name } })]),
    'key' in command.with
      ? createKey(command.with.key)
      : event({ case: 'memberJoined', value: { ...command.with.owner, email, role: 'owner' } }),
  ];
}

function planFaults(plan: string): Fault[] {
  return isPlan(plan) ? [] : [{ path: 'plan', message: `must be one of ${PLANS.join(', ')}` }];
}

function event(init: MessageInitShape<typeof AccountEventSchema>['event']): AccountEvent {
  return create(AccountEventSchema, { event: init });
}
