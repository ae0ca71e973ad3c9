import { create } from '@bufbuild/protobuf';
import { ChannelConfigSchema, type ChannelConfig, type ChannelKind } from '#contracts';
import type { Fault } from '#kernel';
import type { SecretBox } from '#secrets';
import type { ChannelRow } from '../../reads/channel-reads.js';
import { isMasked, type ChannelConfigDto } from './channel-body.dto.js';
import { normalAddress } from '../../http/email-address.js';

type ConfigKey = keyof ChannelConfigDto;

/** The keys of each kind's config. */
const KEYS: Readonly<Record<ChannelKind, readonly ConfigKey[]>> = {
  email: ['to'],
  slack: ['webhookUrl'],
  discord: ['webhookUrl'],
  teams: ['webhookUrl'],
  telegram: ['botToken', 'chatId'],
  webhook: ['url'],
};

const SHOWN_CHARACTERS = 4;

/**
 * Returns the faults that the decorators of `ChannelConfigDto` cannot find: keys that are missing or do not fit the
 * kind, a masked secret that is not the stored secret, and duplicate addresses.
 * @param before the stored channel, if the config changes a channel; the config can then contain the masked form of the
 * stored secret
 */
export function configFaults(kind: ChannelKind, config: ChannelConfigDto, before?: ChannelRow): Fault[] {
  const last4 = before?.config.secretLast4;
  // Without a stored secret, no masked form is accepted: a new channel would store `…` itself as its secret.
  const isStored = (value: unknown) => Boolean(last4) && value === maskOf(last4);
  const wanted = KEYS[kind] ?? [];
  const given = (Object.keys(config) as ConfigKey[]).filter((key) => config[key] !== undefined);
  return [
    ...wanted
      .filter((key) => !given.includes(key))
      .map((key) => ({ path: `config.${key}`, message: `is required for the kind ${kind}` })),
    ...given
      .filter((key) => !wanted.includes(key))
      .map((key) => ({
        path: `config.${key}`,
        message: `does not belong to the kind ${kind}, whose config has ${wanted.map((one) => `\`${one}\``).join(' and ')}`,
      })),
    ...given
      .filter((key) => isMasked(config[key]) && !isStored(config[key]))
      .map((key) => ({ path: `config.${key}`, message: 'is a shortened secret; send the whole one' })),
    ...duplicateFaults(config.to ?? []),
  ];
}

/**
 * Returns the config as it is stored.
 * @param before the stored channel, if the config changes a channel; its secret is used if the config contains the
 * masked form
 */
export function storedConfig(
  kind: ChannelKind,
  config: ChannelConfigDto,
  box: SecretBox,
  before?: ChannelRow,
): ChannelConfig {
  const { to = [], chatId = '', url = '' } = config;
  const secret = config.webhookUrl ?? config.botToken ?? '';
  const kept = isMasked(secret) ? before : undefined;
  return create(ChannelConfigSchema, {
    to: kind === 'email' ? to.map(normalAddress) : [],
    chatId: String(chatId),
    url,
    secretEncrypted: kept?.secret_encrypted ?? (secret === '' ? new Uint8Array() : box.seal(secret)),
    secretLast4: kept?.config.secretLast4 ?? secret.slice(-SHOWN_CHARACTERS),
  });
}

/** Returns the config as users read it: secrets are shortened. */
export function configView({ kind, config, addresses }: ChannelRow): Record<string, unknown> {
  const secret = maskOf(config.secretLast4);
  switch (kind) {
    case 'email':
      return { to: addresses };
    case 'slack':
    case 'discord':
    case 'teams':
      return { webhookUrl: secret };
    case 'telegram':
      return { botToken: secret, chatId: config.chatId ?? '' };
    case 'webhook':
      return { url: config.url ?? '' };
  }
}

function maskOf(last4 = ''): string {
  return `…${last4}`;
}

function duplicateFaults(to: readonly string[]): Fault[] {
  const folded = to.map((address) => String(address).toLowerCase());
  return folded.flatMap((address, index) =>
    folded.indexOf(address) < index ? [{ path: `config.to[${index}]`, message: 'is given twice' }] : [],
  );
}
