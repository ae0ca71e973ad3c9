import { fromBinary } from '@bufbuild/protobuf';
import {
  ChannelDecisionSchema,
  type ChannelConfig,
  type ChannelDecision,
  type ChannelEvent,
} from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';

/** Stores the channels of accounts in `channels` and `channel_addresses`. */
export const channelsProjection: Projection = {
  name: 'channels-v1',
  stream: 'CHANNELS',
  rebuild: { tables: ['channel_addresses', 'channels'] },
  async apply(tx, messages) {
    for (const { data } of messages) {
      const decision = fromBinary(ChannelDecisionSchema, data);
      for (const event of decision.events) await applyEvent(tx, decision, event);
      await tx.query(
        `UPDATE channels c SET updated_at = $2, state = CASE
           WHEN disabled_at IS NOT NULL THEN 'disabled'
           WHEN kind = 'email' AND NOT EXISTS (SELECT 1 FROM channel_addresses a
             WHERE a.channel_id = c.channel_id AND a.state = 'verified' AND a.address = ANY (c.addresses)) THEN 'unverified'
           ELSE 'active' END
         WHERE channel_id = $1`,
        [decision.channelId, decision.decidedAt],
      );
    }
  },
};

async function applyEvent(
  tx: Tx,
  { accountId, channelId, decidedAt }: ChannelDecision,
  { event }: ChannelEvent,
): Promise<void> {
  switch (event.case) {
    case 'created': {
      const { kind, name, config } = event.value;
      await tx.query(
        `INSERT INTO channels (channel_id, account_id, kind, name, state, config, secret_encrypted, addresses, created_at, updated_at)
         VALUES ($1, $2, $3, $4, 'active', $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING`,
        [channelId, accountId, kind, name, ...configColumns(config), decidedAt],
      );
      return addAddresses(tx, channelId, config);
    }
    case 'changed': {
      const { name, config } = event.value;
      await tx.query(
        'UPDATE channels SET name = $2, config = $3, secret_encrypted = $4, addresses = $5 WHERE channel_id = $1',
        [channelId, name, ...configColumns(config)],
      );
      return addAddresses(tx, channelId, config);
    }
    case 'addressVerified':
      return setAddress(tx, channelId, event.value.address, 'verified');
    case 'addressUnsubscribed':
      return setAddress(tx, channelId, event.value.address, 'unsubscribed');
    case 'addressRefused':
      return setAddress(tx, channelId, event.value.address, 'refused');
    case 'disabled': {
      const { reason, failures, lastStatusCode } = event.value;
      await tx.query(
        `UPDATE channels SET disabled_at = $2, disabled_reason = $3, failures = $4, last_status_code = $5 WHERE channel_id = $1`,
        [channelId, decidedAt, reason, failures, lastStatusCode],
      );
      return;
    }
    case 'enabled':
      await tx.query(
        `UPDATE channels SET disabled_at = NULL, disabled_reason = NULL, failures = 0, last_status_code = NULL WHERE channel_id = $1`,
        [channelId],
      );
      await tx.query(
        `UPDATE channel_addresses SET state = 'unverified' WHERE channel_id = $1 AND state = 'refused'`,
        [channelId],
      );
      return;
    case 'deleted':
      await tx.query('DELETE FROM channel_addresses WHERE channel_id = $1', [channelId]);
      await tx.query('DELETE FROM channels WHERE channel_id = $1', [channelId]);
      return;
    case 'secretResealed':
      await tx.query('UPDATE channels SET secret_encrypted = $2 WHERE channel_id = $1', [
        channelId,
        Buffer.from(event.value.secretEncrypted),
      ]);
      return;
    case undefined:
      return;
  }
}

/** Returns the part of the config that users may read, the secret, and the addresses. */
function configColumns(config: ChannelConfig | undefined): [object, Buffer | null, string[]] {
  const secret = config?.secretEncrypted ?? new Uint8Array();
  const { chatId, url, secretLast4 } = config ?? { chatId: '', url: '', secretLast4: '' };
  const readable = { ...(chatId && { chatId }), ...(url && { url }), ...(secretLast4 && { secretLast4 }) };
  return [readable, secret.length > 0 ? Buffer.from(secret) : null, config?.to ?? []];
}

async function addAddresses(tx: Tx, channelId: string, config: ChannelConfig | undefined): Promise<void> {
  if (config && config.to.length > 0)
    await tx.query(
      `INSERT INTO channel_addresses (channel_id, address, state)
       SELECT $1, address, 'unverified' FROM unnest($2::text[]) AS address ON CONFLICT DO NOTHING`,
      [channelId, config.to],
    );
}

async function setAddress(tx: Tx, channelId: string, address: string, state: string): Promise<void> {
  await tx.query('UPDATE channel_addresses SET state = $3 WHERE channel_id = $1 AND address = $2', [
    channelId,
    address,
    state,
  ]);
}
