import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import type { ListPosition } from '../http/newest-first.js';

/** An API key, without the key itself. */
export interface KeyRow {
  key_id: string;
  name: string;
  scope: string;
  mcp_daily_credits: number | null;
  /** The member who created the key; null if it was created with the command line. */
  member_id: string | null;
  member_email: string | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** A member of an account. */
export interface MemberRow {
  member_id: string;
  email: string;
  role: string;
  joined_at: Date;
  last_seen_at: Date | null;
}

/** An invitation that can be accepted. */
export interface InvitationRow {
  invitation_id: string;
  email: string;
  role: string;
  invited_by: string | null;
  created_at: Date;
  expires_at: Date;
}

const KEYS = `SELECT k.key_id, k.name, k.scope, k.mcp_daily_credits, k.member_id, m.email AS member_email, k.created_at, k.expires_at,
    u.last_used_at
  FROM api_keys k LEFT JOIN api_key_uses u USING (key_id) LEFT JOIN members m ON m.member_id = k.member_id
  WHERE k.account_id = $1 AND k.revoked_at IS NULL AND ($2::uuid IS NULL OR k.member_id = $2)`;

const MEMBERS = `SELECT m.member_id, m.email, m.role, m.joined_at,
    (SELECT max(s.last_seen_at) FROM sessions s WHERE s.member_id = m.member_id) AS last_seen_at
  FROM members m WHERE m.account_id = $1 AND m.removed_at IS NULL`;

/** Reads the keys, the members and the invitations of an account. */
@Injectable()
export class AccessReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Returns keys that were not revoked. @param ofMember null: all keys of the account */
  keys(accountId: string, ofMember: string | null, limit: number, before?: ListPosition): Promise<KeyRow[]> {
    return this.database.query(
      `${KEYS} AND ($3::timestamptz IS NULL OR (k.created_at, k.key_id) < ($3, $4::uuid))
       ORDER BY k.created_at DESC, k.key_id DESC LIMIT $5`,
      [accountId, ofMember, before?.at ?? null, before?.id ?? null, limit],
    );
  }

  /** @param ofMember null: any key of the account */
  async key(accountId: string, keyId: string, ofMember: string | null): Promise<KeyRow | undefined> {
    const [row] = await this.database.query<KeyRow[]>(`${KEYS} AND k.key_id = $3`, [
      accountId,
      ofMember,
      keyId,
    ]);
    return row;
  }

  members(accountId: string, limit: number, before?: ListPosition): Promise<MemberRow[]> {
    return this.database.query(
      `${MEMBERS} AND ($2::timestamptz IS NULL OR (m.joined_at, m.member_id) < ($2, $3::uuid))
       ORDER BY m.joined_at DESC, m.member_id DESC LIMIT $4`,
      [accountId, before?.at ?? null, before?.id ?? null, limit],
    );
  }

  async member(accountId: string, memberId: string): Promise<MemberRow | undefined> {
    const [row] = await this.database.query<MemberRow[]>(`${MEMBERS} AND m.member_id = $2`, [
      accountId,
      memberId,
    ]);
    return row;
  }

  invitations(accountId: string, limit: number, before?: ListPosition): Promise<InvitationRow[]> {
    return this.database.query(
      `SELECT invitation_id, email, role, invited_by, created_at, expires_at FROM invitations
       WHERE account_id = $1 AND ended_at IS NULL AND expires_at > now()
         AND ($2::timestamptz IS NULL OR (created_at, invitation_id) < ($2, $3::uuid))
       ORDER BY created_at DESC, invitation_id DESC LIMIT $4`,
      [accountId, before?.at ?? null, before?.id ?? null, limit],
    );
  }
}
