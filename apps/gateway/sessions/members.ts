import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** The data of a member that a sign-in needs. */
export interface MemberSecret {
  member_id: string;
  account_id: string;
  email: string;
  /** argon2id */
  password_hash: string;
  password_version: number;
}

/** A member and the account, with the data that the dashboard shows and that a change of the password needs. */
export interface MemberProfile {
  account_id: string;
  /** Empty if the account has no name. */
  name: string;
  plan: string;
  timezone: string;
  member_id: string;
  email: string;
  role: string;
  password_hash: string;
  password_version: number;
}

/** Reads members, for sessions. */
@Injectable()
export class MemberReads {
  private hasFoundAccount = false;

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Returns the member with this address, in any account. Upper and lower case are equal. An address belongs to
   * at most one member.
   */
  async byEmail(email: string): Promise<MemberSecret | undefined> {
    const [row] = await this.database.query<MemberSecret[]>(
      `SELECT member_id, account_id, email, password_hash, password_version FROM members
       WHERE lower(email) = lower($1) AND removed_at IS NULL ORDER BY joined_at LIMIT 1`,
      [email],
    );
    return row;
  }

  /** @returns undefined if the member is unknown or was removed */
  async profile(memberId: string): Promise<MemberProfile | undefined> {
    const [row] = await this.database.query<MemberProfile[]>(
      `SELECT account_id, a.name, a.plan, a.timezone, m.member_id, m.email, m.role, m.password_hash, m.password_version
       FROM members m JOIN accounts a USING (account_id) WHERE m.member_id = $1 AND m.removed_at IS NULL`,
      [memberId],
    );
    return row;
  }

  /**
   * Returns whether the installation has an account. The result `true` never changes, because accounts are never
   * deleted.
   */
  async hasAccounts(): Promise<boolean> {
    if (this.hasFoundAccount) return true;
    const rows: unknown[] = await this.database.query('SELECT 1 FROM accounts LIMIT 1');
    this.hasFoundAccount = rows.length > 0;
    return this.hasFoundAccount;
  }
}
