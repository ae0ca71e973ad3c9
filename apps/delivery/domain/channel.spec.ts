import { create } from '@bufbuild/protobuf';
import { ChannelConfigSchema, ChannelEventSchema, type ChannelConfig } from '#contracts';
import {
  configVersion,
  decide,
  evolve,
  MAX_CHANNELS,
  NO_CHANNEL,
  type ChannelCommand,
  type ChannelState,
} from './channel.js';

const to = (...addresses: string[]) => create(ChannelConfigSchema, { to: addresses });
const mail = {
  kind: 'create',
  channelKind: 'email',
  name: 'Team',
  config: to('a@example.org', 'b@example.org'),
  existing: 0,
} satisfies ChannelCommand;
/** Returns the command that delivery sends after failed attempts with this config. */
const disableWith = (config: ChannelConfig): ChannelCommand => ({
  kind: 'disable',
  reason: 'gone',
  failures: 1,
  lastStatusCode: 404,
  version: configVersion(config),
});

/** Returns the state after the commands, and the events of the last command. */
function run(...commands: ChannelCommand[]): { state: ChannelState; events: (string | undefined)[] } {
  let state = NO_CHANNEL;
  let events: (string | undefined)[] = [];
  for (const command of commands) {
    const decided = decide(command, state);
    events = decided.map(({ event }) => event.case);
    state = decided.reduce(evolve, state);
  }
  return { state, events };
}
const verify = (address: string): ChannelCommand => ({ kind: 'verify', address });
const unsubscribe = (address: string): ChannelCommand => ({ kind: 'unsubscribe', address });
const refuse = (address: string): ChannelCommand => ({
  kind: 'refuse-address',
  address,
  reason: 'no such mailbox',
  statusCode: 550,
});

describe('a channel', () => {
  it('is disabled when the last address that can be reached unsubscribes or is refused', () => {
    expect(run(mail, verify('a@example.org'), unsubscribe('a@example.org')).events).toEqual([
      'addressUnsubscribed',
    ]);
    const last = run(mail, unsubscribe('a@example.org'), refuse('b@example.org'));
    expect(last.events).toEqual(['addressRefused', 'disabled']);
    expect(last.state).toMatchObject({ isDisabled: true });
  });

  it('is enabled again when an address is confirmed, but only if it was disabled because no address was left', () => {
    expect(
      run(mail, unsubscribe('a@example.org'), unsubscribe('b@example.org'), verify('a@example.org')).events,
    ).toEqual(['addressVerified', 'enabled']);
    const disable = disableWith(mail.config);
    expect(run(mail, disable, verify('a@example.org')).events).toEqual(['addressVerified']);
  });

  it('keeps verifications and unsubscriptions when its addresses change', () => {
    const changed = run(mail, verify('a@example.org'), unsubscribe('b@example.org'), {
      kind: 'change',
      name: undefined,
      config: to('a@example.org', 'c@example.org'),
    });
    const again = run(
      mail,
      unsubscribe('b@example.org'),
      { kind: 'change', name: undefined, config: to('c@example.org') },
      {
        kind: 'change',
        name: undefined,
        config: to('b@example.org', 'c@example.org'),
      },
    );
    expect(changed.state).toMatchObject({
      addresses: new Map([
        ['a@example.org', 'verified'],
        ['b@example.org', 'unsubscribed'],
        ['c@example.org', 'unverified'],
      ]),
    });
    expect(again.state.status === 'live' && again.state.addresses.get('b@example.org')).toBe('unsubscribed');
  });

  it('stores the unsubscription of an address that the account has removed, and keeps it when the address is added again', () => {
    const without: ChannelCommand = { kind: 'change', name: undefined, config: to('b@example.org') };
    const removed = [mail, verify('a@example.org'), without, unsubscribe('a@example.org')] as const;
    expect(run(...removed).events).toEqual(['addressUnsubscribed']);
    const { state } = run(...removed, { kind: 'change', name: undefined, config: mail.config });
    expect(state.status === 'live' && state.addresses.get('a@example.org')).toBe('unsubscribed');
    expect(() => run(mail, unsubscribe('eve@example.org'))).toThrow('address not found');
  });

  it('is enabled by a new config and by a command; refused addresses must then be confirmed again', () => {
    const slack = {
      ...mail,
      channelKind: 'slack',
      config: create(ChannelConfigSchema, { secretLast4: 'abcd' }),
    };
    const disable = disableWith(slack.config);
    const change: ChannelCommand = {
      kind: 'change',
      name: undefined,
      config: create(ChannelConfigSchema, {}),
    };
    expect(run(slack, disable, change).events).toEqual(['changed', 'enabled']);
    expect(run(slack, disable, disable).events).toEqual([]);
    const enabled = run(mail, refuse('a@example.org'), refuse('b@example.org'), { kind: 'enable' });
    expect(enabled.state).toMatchObject({
      isDisabled: false,
      addresses: new Map([
        ['a@example.org', 'unverified'],
        ['b@example.org', 'unverified'],
      ]),
    });
  });

  it('is not disabled by a failed attempt with an old config, after the user has corrected the config', () => {
    const config = (secret: number) =>
      create(ChannelConfigSchema, { secretEncrypted: new Uint8Array([secret]), secretLast4: 'abcd' });
    const slack = { ...mail, channelKind: 'slack', config: config(1) };
    const correct: ChannelCommand = { kind: 'change', name: undefined, config: config(2) };
    const rename: ChannelCommand = { kind: 'change', name: 'Other', config: undefined };
    expect(run(slack, correct, disableWith(config(1))).events).toEqual([]);
    expect(run(slack, correct, disableWith(config(2))).events).toEqual(['disabled']);
    expect(run(slack, rename, disableWith(config(1))).events).toEqual(['disabled']);
  });

  it('is not found if it was deleted or never existed, and is refused above the maximum number of channels', () => {
    expect(() => run(mail, { kind: 'delete' }, { kind: 'enable' })).toThrow('channel not found');
    expect(() => run({ kind: 'change', name: 'x', config: undefined })).toThrow('channel not found');
    expect(() => run({ ...mail, existing: MAX_CHANNELS })).toThrow('at most 100 channels');
    expect(() => run(mail, verify('eve@example.org'))).toThrow('address not found');
    expect(run(mail, { kind: 'delete' }, disableWith(mail.config)).events).toEqual([]);
    // The events before the deletion are erased.
    const deleted = create(ChannelEventSchema, { event: { case: 'deleted', value: {} } });
    expect(evolve(NO_CHANNEL, deleted)).toEqual({ status: 'deleted' });
  });

  it('keeps the rest of its config when its secret is encrypted with another key', () => {
    const config = create(ChannelConfigSchema, { secretEncrypted: new Uint8Array([1]), secretLast4: 'abcd' });
    const reseal: ChannelCommand = { kind: 'reseal', reseal: () => new Uint8Array([2]) };
    const resealed = run({ ...mail, channelKind: 'slack', config }, reseal);
    expect([resealed.events, resealed.state]).toMatchObject([
      ['secretResealed'],
      { config: { secretEncrypted: new Uint8Array([2]), secretLast4: 'abcd' } },
    ]);
    expect(run(mail, reseal).events).toEqual([]);
  });
});
