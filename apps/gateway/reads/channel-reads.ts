import { Inject, Injectable } from '@nestjs/common';
import type { ChannelKind } from '#contracts';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** The states of a channel. */
export const CHANNEL_STATES = ['active', 'unverified', 'disabled'] as const;

/** A row of `channels`. */
export interface ChannelRow {
  channel_id: string;
  kind: ChannelKind;
  name: string;
  state: (typeof CHANNEL_STATES)[number];
  config: { chatId?: string; url?: string; secretLast4?: string };
  secret_encrypted: Buffer | null;
  addresses: string[];
  /** The state of each address of an email channel; null for other kinds. */
  address_states: Record<string, string> | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  created_at: Date;
  updated_at: Date;
}

/** The filter of a list of channels. */
export interface ChannelFilter {
  kind: string | null;
  state: string | null;
}

/** A channel's position in the list: ISO 8601 time, and id. */
export interface ChannelPosition {
  at: string;
  id: string;
}

const COLUMNS = `c.*, (SELECT jsonb_object_agg(a.address, a.state) FROM channel_addresses a
  WHERE a.channel_id = c.channel_id AND a.address = ANY (c.addresses)) AS address_states`;

/** Reads channels. Another account's channels are not found. */
@Injectable()
export class ChannelReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async channel(accountId: string, channelId: string): Promise<ChannelRow | undefined> {
    const rows: ChannelRow[] = await this.database.query(
      `SELECT ${COLUMNS} FROM channels c WHERE account_id = $1 AND channel_id = $2`,
      [accountId, channelId],
    );
    return rows[0];
  }

  /**
   * Returns channels, newest first. Returns up to one more than `limit`, so that the caller knows whether there is a
   * next page.
   */
  channels(
    accountId: string,
    { kind, state }: ChannelFilter,
    limit: number,
    before: ChannelPosition | undefined,
  ): Promise<ChannelRow[]> {
    return this.database.query(
      `SELECT ${COLUMNS} FROM channels c WHERE account_id = $1
         AND ($2::text IS NULL OR kind = $2) AND ($3::text IS NULL OR state = $3)
         AND ($4::timestamptz IS NULL OR (created_at, channel_id) < ($4, $5::uuid))
       ORDER BY created_at DESC, channel_id DESC LIMIT $6`,
      [accountId, kind, state, before?.at ?? null, before?.id ?? null, limit + 1],
    );
  }
}
