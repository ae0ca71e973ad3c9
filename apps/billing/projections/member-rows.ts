import type { AccountEvent } from '#contracts';
import type { Tx } from '#postgres';

/** Writes an event about members or invitations into their tables. */
export async function applyMemberEvent(
  tx: Tx,
  accountId: string,
  decidedAt: string,
  event: AccountEvent['event'],
): Promise<void> {
  switch (event.case) {
    case 'invitationCreated': {
      const { invitationId, email, role, codeHash, expiresAt, invitedBy } = event.value;
      await tx.query(
        `INSERT INTO invitations (invitation_id, account_id, email, role, code_hash, invited_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
        [
          invitationId,
          accountId,
          email,
          role,
          Buffer.from(codeHash),
          invitedBy || null,
          decidedAt,
          expiresAt,
        ],
      );
      return;
    }
    case 'invitationRevoked':
      return endInvitation(tx, event.value.invitationId, decidedAt);
    case 'memberJoined': {
      const { memberId, email, role, passwordHash, invitationId } = event.value;
      await tx.query(
        `INSERT INTO members (member_id, account_id, email, role, password_hash, joined_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
        [memberId, accountId, email, role, passwordHash, decidedAt],
      );
      if (invitationId !== '') await endInvitation(tx, invitationId, decidedAt);
      return;
    }
    case 'memberRoleChanged':
      await tx.query('UPDATE members SET role = $2 WHERE member_id = $1', [
        event.value.memberId,
        event.value.role,
      ]);
      return;
    case 'memberRemoved':
      await tx.query('UPDATE members SET removed_at = $2 WHERE member_id = $1', [
        event.value.memberId,
        decidedAt,
      ]);
      return;
    case 'passwordChanged':
      await tx.query(
        'UPDATE members SET password_hash = $2, password_version = password_version + 1 WHERE member_id = $1',
        [event.value.memberId, event.value.passwordHash],
      );
      return;
    default:
      return;
  }
}

async function endInvitation(tx: Tx, invitationId: string, decidedAt: string): Promise<void> {
  await tx.query('UPDATE invitations SET ended_at = $2 WHERE invitation_id = $1', [invitationId, decidedAt]);
}
