import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ChannelEventSchema, type ChannelConfig, type ChannelEvent } from '#contracts';
import { Refusal } from '#kernel';

/** `refused`: the mail server has permanently refused the address. Only verified addresses get messages. */
export type AddressState = 'unverified' | 'verified' | 'unsubscribed' | 'refused';

/** The state of one channel. */
export type ChannelState =
  | { status: 'none' }
  | { status: 'deleted' }
  | {
      status: 'live';
      kind: string;
      name: string;
      config: ChannelConfig | undefined;
      /**
       * Only for an email channel. Includes addresses that the channel no longer uses, because their unsubscriptions
       * must be kept.
       */
      addresses: ReadonlyMap<string, AddressState>;
      isDisabled: boolean;
    };

type Live = Extract<ChannelState, { status: 'live' }>;

/** A command on one channel. */
export type ChannelCommand =
  | {
      kind: 'create';
      channelKind: string;
      name: string;
      config: ChannelConfig | undefined;
      /** Number of channels that the account has. */
      existing: number;
    }
  | { kind: 'change'; name: string | undefined; config: ChannelConfig | undefined }
  | { kind: 'verify'; address: string }
  | { kind: 'unsubscribe'; address: string }
  | { kind: 'refuse-address'; address: string; reason: string; statusCode: number }
  | {
      kind: 'disable';
      reason: string;
      failures: number;
      lastStatusCode: number;
      /** The `configVersion` with which the attempts failed. */
      version: string;
    }
  | { kind: 'enable' }
  | { kind: 'delete' }
  | { kind: 'reseal'; reseal: (sealed: Uint8Array) => Uint8Array | undefined };

/** Maximum number of channels of one account. */
export const MAX_CHANNELS = 100;
/** The state before a channel is created. */
export const NO_CHANNEL: ChannelState = { status: 'none' };

/**
 * Returns the events of a command; none if the command changes nothing. `disable` and `reseal` return none if the
 * channel does not exist.
 * @throws Refusal `not-found` if the channel does not exist, but not for `create`, `disable` and `reseal`. Also
 *   `not-found` if the address of `verify` does not belong to the channel, or if the address of `unsubscribe` never
 *   belonged to it; `conflict` for `create` if the channel already exists, or if the account has the maximum number of
 *   channels
 */
export function decide(command: ChannelCommand, state: ChannelState): ChannelEvent[] {
  switch (command.kind) {
    case 'create':
      return created(command, state);
    case 'change':
      return changed(command, requireLive(state));
    case 'verify':
      return verified(command.address, requireLive(state));
    case 'unsubscribe':
      return unsubscribed(command.address, requireLive(state));
    case 'refuse-address':
      return addressRefused(command, requireLive(state));
    case 'disable': {
      const { reason, failures, lastStatusCode, version } = command;
      if (state.status !== 'live' || state.isDisabled) return [];
      // The config has changed during the attempt, or its secret was encrypted again.
      if (configVersion(state.config) !== version) return [];
      return [event({ case: 'disabled', value: { reason, failures, lastStatusCode } })];
    }
    case 'enable':
      return requireLive(state).isDisabled ? [event({ case: 'enabled', value: {} })] : [];
    case 'delete':
      requireLive(state);
      return [event({ case: 'deleted', value: {} })];
    case 'reseal': {
      const sealed = state.status === 'live' ? state.config?.secretEncrypted : undefined;
      const resealed = sealed?.length ? command.reseal(sealed) : undefined;
      return resealed ? [event({ case: 'secretResealed', value: { secretEncrypted: resealed } })] : [];
    }
  }
}

/**
 * Returns a different text for each config, so that Earshot can detect that the config has changed since an attempt
 * began.
 */
export function configVersion(
  config: Pick<ChannelConfig, 'chatId' | 'url' | 'to' | 'secretEncrypted'> | undefined,
): string {
  const { chatId = '', url = '', to = [], secretEncrypted = new Uint8Array() } = config ?? {};
  return JSON.stringify([chatId, url, to, Buffer.from(secretEncrypted).toString('base64')]);
}

/** Returns the state after the event. */
export function evolve(state: ChannelState, { event }: ChannelEvent): ChannelState {
  if (event.case === 'created') {
    const { kind, name, config } = event.value;
    const addresses = withAddresses(new Map(), config);
    return { status: 'live', kind, name, config, addresses, isDisabled: false };
  }
  // This case must not need the earlier events, because they are erased after the deletion.
  if (event.case === 'deleted') return { status: 'deleted' };
  if (state.status !== 'live') return state;
  switch (event.case) {
    case 'changed': {
      const { name, config } = event.value;
      return { ...state, name, config, addresses: withAddresses(state.addresses, config) };
    }
    case 'addressVerified':
      return withAddress(state, event.value.address, 'verified');
    case 'addressUnsubscribed':
      return withAddress(state, event.value.address, 'unsubscribed');
    case 'addressRefused':
      return withAddress(state, event.value.address, 'refused');
    case 'disabled':
      return { ...state, isDisabled: true };
    case 'enabled': {
      // A refused mailbox can now belong to another person, so its owner must be asked for consent again.
      const addresses = [...state.addresses].map(
        ([address, one]) => [address, one === 'refused' ? 'unverified' : one] as const,
      );
      return { ...state, isDisabled: false, addresses: new Map(addresses) };
    }
    case 'secretResealed':
      return state.config
        ? { ...state, config: { ...state.config, secretEncrypted: event.value.secretEncrypted } }
        : state;
    case undefined:
      return state;
  }
}

function created(
  { channelKind: kind, name, config, existing }: Extract<ChannelCommand, { kind: 'create' }>,
  state: ChannelState,
): ChannelEvent[] {
  if (state.status !== 'none') throw Refusal.conflict('the channel already exists');
  if (existing >= MAX_CHANNELS)
    throw Refusal.conflict(`an account has at most ${MAX_CHANNELS} channels; delete one first`);
  return [event({ case: 'created', value: config ? { kind, name, config } : { kind, name } })];
}

/**
 * Decides a change of a channel. A new config also enables a disabled channel. An email channel is enabled only if one
 * of its addresses is reachable.
 */
function changed(
  { name = '', config }: Extract<ChannelCommand, { kind: 'change' }>,
  state: Live,
): ChannelEvent[] {
  if (!config && (name === '' || name === state.name)) return [];
  const after = config ?? state.config;
  const value = { name: name || state.name, ...(after && { config: after }) };
  const isAlive = !config || reachable(withAddresses(state.addresses, config), config).length > 0;
  return [
    event({ case: 'changed', value }),
    ...(config && state.isDisabled && (state.kind !== 'email' || isAlive)
      ? [event({ case: 'enabled', value: {} })]
      : []),
  ];
}

function verified(address: string, state: Live): ChannelEvent[] {
  if (!state.config?.to.includes(address)) throw Refusal.notFound('address');
  if (state.addresses.get(address) === 'verified') return [];
  // No address could be reached before, and now this address can be reached.
  const wasUnreachable = state.isDisabled && reachable(state.addresses, state.config).length === 0;
  return [
    event({ case: 'addressVerified', value: { address } }),
    ...(wasUnreachable ? [event({ case: 'enabled', value: {} })] : []),
  ];
}

/**
 * Decides an unsubscription. It is also stored for an address that the account has removed, because the account can add
 * the address again.
 */
function unsubscribed(address: string, state: Live): ChannelEvent[] {
  if (!state.addresses.has(address)) throw Refusal.notFound('address');
  if (state.addresses.get(address) === 'unsubscribed') return [];
  return [
    event({ case: 'addressUnsubscribed', value: { address } }),
    ...disabledWithout(address, state, 'every address has unsubscribed or was refused', 0),
  ];
}

function addressRefused(
  { address, reason, statusCode }: Extract<ChannelCommand, { kind: 'refuse-address' }>,
  state: Live,
): ChannelEvent[] {
  if (!state.addresses.has(address) || state.addresses.get(address) === 'refused') return [];
  return [
    event({ case: 'addressRefused', value: { address, reason, statusCode } }),
    ...disabledWithout(address, state, reason, statusCode),
  ];
}

/** Disables the channel if none of its other addresses can be reached. */
function disabledWithout(
  address: string,
  state: Live,
  reason: string,
  lastStatusCode: number,
): ChannelEvent[] {
  const left = reachable(state.addresses, state.config).filter((one) => one !== address);
  if (left.length > 0 || state.isDisabled) return [];
  const failures = lastStatusCode > 0 ? 1 : 0;
  return [event({ case: 'disabled', value: { reason, failures, lastStatusCode } })];
}

/** Returns the present addresses that get messages, or will get them after their verification. */
function reachable(addresses: Live['addresses'], config: ChannelConfig | undefined): string[] {
  return (config?.to ?? []).filter((address) =>
    ['verified', 'unverified'].includes(addresses.get(address) ?? 'unverified'),
  );
}

function withAddresses(known: Live['addresses'], config: ChannelConfig | undefined): Live['addresses'] {
  const added = (config?.to ?? []).filter((address) => !known.has(address));
  return new Map([...known, ...added.map((address) => [address, 'unverified'] as const)]);
}

function withAddress(state: Live, address: string, is: AddressState): Live {
  return { ...state, addresses: new Map([...state.addresses, [address, is]]) };
}

function requireLive(state: ChannelState): Live {
  if (state.status !== 'live') throw Refusal.notFound('channel');
  return state;
}

function event(init: MessageInitShape<typeof ChannelEventSchema>['event']): ChannelEvent {
  return create(ChannelEventSchema, { event: init });
}
