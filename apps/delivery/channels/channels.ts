import { derivedId } from '#kernel';
import type { Database } from '#postgres';
import type { SecretBox } from '#secrets';
import { configVersion } from '../domain/channel.js';
import type { Channel, ChannelAddress, ChannelKind, EmailAddress } from './channel.js';

interface Row {
  channel_id: string;
  account_id: string;
  kind: ChannelKind;
  name: string;
  state: Channel['state'];
  disabled_reason: string | null;
  config: { chatId?: string; url?: string };
  secret_encrypted: Buffer | null;
  addresses: string[];
  address_states: Record<string, EmailAddress['state']> | null;
}

/** The channels that a keyword uses. */
export interface KeywordChannels {
  keywordId: string;
  name: string;
  /** IANA zone of the account. */
  timezone: string;
  channels: readonly { channelId: string; mode: string }[];
  /** Ids of the channels that the keyword's rules name. */
  ofRules: readonly string[];
  /** The types of events about the keyword itself to which the keyword subscribes. */
  webhookEvents: readonly string[];
}

/**
 * Reads channels and the keywords that use them. Callers read both again for each batch, so a change applies from the
 * next batch.
 */
export class Channels {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /** Returns the channels by id; deleted channels are left out. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Channel>> {
    if (ids.length === 0) return new Map();
    const rows: Row[] = await this.database.query(
      `SELECT c.*, (SELECT jsonb_object_agg(a.address, a.state) FROM channel_addresses a
         WHERE a.channel_id = c.channel_id) AS address_states
       FROM channels c WHERE c.channel_id = ANY ($1)`,
      [[...new Set(ids)]],
    );
    return new Map(rows.map((row) => [row.channel_id, this.channelOf(row)]));
  }

  /** Returns the channels of keywords, by the keyword's id. Retired and purged keywords are left out. */
  async ofKeywords(ids: readonly string[]): Promise<ReadonlyMap<string, KeywordChannels>> {
    if (ids.length === 0) return new Map();
    const rows: {
      keyword_id: string;
      name: string;
      timezone: string;
      channels: { channelId: string; mode: string }[] | null;
      rules: { then?: { channelIds?: string[] }[] }[] | null;
      webhook_events: string[] | null;
    }[] = await this.database.query(
      `SELECT k.keyword_id, k.name, a.timezone, k.definition->'channels' AS channels, k.definition->'rules' AS rules,
         k.definition->'webhookEvents' AS webhook_events
       FROM keywords k JOIN accounts a ON a.account_id = k.account_id
       WHERE k.keyword_id = ANY ($1) AND k.state <> 'retired'`,
      [[...new Set(ids)]],
    );
    return new Map(
      rows.map((row) => [
        row.keyword_id,
        {
          keywordId: row.keyword_id,
          name: row.name,
          timezone: row.timezone,
          channels: row.channels ?? [],
          ofRules: (row.rules ?? []).flatMap(({ then = [] }) =>
            then.flatMap(({ channelIds = [] }) => channelIds),
          ),
          webhookEvents: row.webhook_events ?? [],
        },
      ]),
    );
  }

  private channelOf(row: Row): Channel {
    return Object.assign(this.addressOf(row), {
      channelId: row.channel_id,
      accountId: row.account_id,
      name: row.name,
      state: row.state,
      disabledReason: row.disabled_reason ?? undefined,
      version: configVersion({
        chatId: row.config.chatId ?? '',
        url: row.config.url ?? '',
        to: row.addresses,
        secretEncrypted: row.secret_encrypted ?? new Uint8Array(),
      }),
    });
  }

  /** A secret is decrypted when it is used. If it cannot be decrypted, only messages of its channel fail. */
  private addressOf(row: Row): ChannelAddress {
    const { kind, config, secret_encrypted: sealed } = row;
    const secret = () => (sealed ? this.box.open(sealed) : '');
    switch (kind) {
      case 'email':
        return {
          kind,
          addresses: row.addresses.map((address) => ({
            address,
            targetId: addressTargetId(row.channel_id, address),
            state: row.address_states?.[address] ?? 'unverified',
          })),
        };
      case 'telegram':
        return {
          kind,
          get botToken() {
            return secret();
          },
          chatId: config.chatId ?? '',
        };
      case 'webhook':
        return { kind, url: config.url ?? '' };
      case 'slack':
      case 'discord':
      case 'teams':
        return {
          kind,
          get webhookUrl() {
            return secret();
          },
        };
    }
  }
}

/** Returns the id of the target for one address of an email channel. Each address has separate attempts. */
export function addressTargetId(channelId: string, address: string): string {
  return derivedId('channel-address', channelId, address);
}
