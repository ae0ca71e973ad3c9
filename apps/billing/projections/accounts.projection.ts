import { fromBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema, type AccountDecision, type AccountEvent } from '#contracts';
import type { Tx } from '#postgres';
import { ACCOUNTS_PROJECTION, type Projection } from '#projections';
import { applyMemberEvent } from './member-rows.js';

/** Keeps `accounts`, `api_keys`, `members` and `invitations` up to date with ACCOUNTS. */
export const accountsProjection: Projection = {
  name: ACCOUNTS_PROJECTION,
  stream: 'ACCOUNTS',
  rebuild: { tables: ['api_keys', 'accounts', 'members', 'invitations'] },
  async apply(tx, messages) {
    for (const { data } of messages) {
      const decision = fromBinary(AccountDecisionSchema, data);
      for (const event of decision.events) await applyEvent(tx, decision, event);
    }
  },
};

async function applyEvent(
  tx: Tx,
  { accountId, decidedAt }: AccountDecision,
  { event }: AccountEvent,
): Promise<void> {
  switch (event.case) {
    case 'accountOpened':
      await tx.query(
        `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
        [
          accountId,
          event.value.email,
          event.value.plan,
          Buffer.from(event.value.signingSecretEncrypted),
          decidedAt,
        ],
      );
      return;
    case 'apiKeyCreated':
      await tx.query(
        `INSERT INTO api_keys (key_id, account_id, name, key_hash, scope, expires_at, member_id, mcp_daily_credits, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
        [
          event.value.keyId,
          accountId,
          event.value.name,
          Buffer.from(event.value.keyHash),
          event.value.scope,
          // As a date: older releases accepted expiries in the year 10000, whose ISO form Postgres cannot read.
          event.value.expiresAt ? new Date(event.value.expiresAt) : null,
          event.value.memberId || null,
          event.value.mcpDailyCredits ?? null,
          decidedAt,
        ],
      );
      return;
    case 'apiKeyRenamed':
      await tx.query('UPDATE api_keys SET name = $2 WHERE key_id = $1', [
        event.value.keyId,
        event.value.name,
      ]);
      return;
    case 'apiKeyLimited':
      await tx.query('UPDATE api_keys SET mcp_daily_credits = $2 WHERE key_id = $1', [
        event.value.keyId,
        event.value.mcpDailyCredits ?? null,
      ]);
      return;
    case 'apiKeyRevoked':
      await tx.query('UPDATE api_keys SET revoked_at = $2 WHERE key_id = $1', [event.value.keyId, decidedAt]);
      return;
    case 'planChanged':
      await tx.query('UPDATE accounts SET plan = $2 WHERE account_id = $1', [accountId, event.value.plan]);
      return;
    case 'signingSecretRotated':
      // On the right side of `=`, `signing_secret_encrypted` has its value from before the update.
      await tx.query(
        `UPDATE accounts SET signing_secret_encrypted = $2, previous_signing_secret_encrypted = signing_secret_encrypted,
           previous_signing_secret_valid_until = $3
         WHERE account_id = $1`,
        [accountId, Buffer.from(event.value.signingSecretEncrypted), event.value.previousValidUntil],
      );
      return;
    case 'secretsResealed': {
      const { signingSecretEncrypted, previousSigningSecretEncrypted: previous } = event.value;
      await tx.query(
        `UPDATE accounts SET signing_secret_encrypted = $2, previous_signing_secret_encrypted = $3
         WHERE account_id = $1`,
        [accountId, Buffer.from(signingSecretEncrypted), previous.length > 0 ? Buffer.from(previous) : null],
      );
      return;
    }
    case 'accountChanged':
      await tx.query(
        `UPDATE accounts SET signature_version = coalesce($2, signature_version), name = coalesce($3, name),
           timezone = coalesce($4, timezone)
         WHERE account_id = $1`,
        [
          accountId,
          event.value.signatureVersion ?? null,
          event.value.name ?? null,
          event.value.timezone ?? null,
        ],
      );
      return;
    case 'invitationCreated':
    case 'invitationRevoked':
    case 'memberJoined':
    case 'memberRoleChanged':
    case 'memberRemoved':
    case 'passwordChanged':
      return applyMemberEvent(tx, accountId, decidedAt, event);
    case undefined:
      return;
  }
}
