import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { isMemberRole } from '#contracts';
import { newId } from '#kernel';
import { DATABASE } from '#platform';
import { deleteInParts, type Database } from '#postgres';
import type { Caller } from '../auth/api-keys.js';

/** A session ends if it has sent no request for this time. */
const IDLE_DAYS = 30;
/** A session ends at the latest this long after sign-in. */
export const MAX_SESSION_DAYS = 90;
const TOKEN = /^[\w-]{43}$/;
const MAX_USER_AGENT_LENGTH = 300;

/** A session as its member sees it. */
export interface SessionRow {
  session_id: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  user_agent: string;
  network_address: string;
}

/** The member and the browser of a new session. */
export interface NewSession {
  memberId: string;
  passwordVersion: number;
  userAgent: string;
  networkAddress: string;
}

/**
 * The condition for a valid session: the session has not expired, its member was not removed, and the password was not
 * changed since the session began (see `keep`).
 */
const VALID = `s.expires_at > now() AND m.removed_at IS NULL AND m.password_version = s.password_version`;

/** Stores the sessions of members. All gateways share the sessions. Tokens are stored only as SHA-256 hashes. */
@Injectable()
export class Sessions {
  /** Hashes of tokens that were valid when they were made or last used. */
  private readonly validBefore = new LRUCache<string, true>({ max: 50_000 });

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @returns the token of a new session; the token is not stored */
  async begin({ memberId, passwordVersion, userAgent, networkAddress }: NewSession): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.database.query(
      `INSERT INTO sessions (session_id, token_hash, member_id, password_version, expires_at, user_agent, network_address)
       VALUES ($1, $2, $3, $4, now() + interval '${IDLE_DAYS} days', $5, $6)`,
      [
        newId(),
        hashOf(token),
        memberId,
        passwordVersion,
        userAgent.replace(/[^\x20-\x7e]/g, '').slice(0, MAX_USER_AGENT_LENGTH),
        networkAddress,
      ],
    );
    // Other people of the same network can have sent many invalid keys. Even then, this gateway does not refuse a
    // person who has just signed in. Another gateway can refuse this person until the minute ends.
    this.validBefore.set(nameOf(token), true);
    return token;
  }

  /** Returns whether the session was valid when this gateway last saw it. Reads only memory. */
  wasValid(token: string): boolean {
    return TOKEN.test(token) && this.validBefore.has(nameOf(token));
  }

  /**
   * Returns the caller of this session; undefined if the session has ended. The caller is not cached, so that the end
   * of a session applies to the next request in all gateways. The cost is small, because a person sends few requests.
   */
  async callerOf(token: string): Promise<Caller | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const name = nameOf(token);
    const [row] = await this.database.query<
      { session_id: string; member_id: string; account_id: string; plan: string; role: string }[]
    >(
      `WITH found AS (
         SELECT s.session_id, s.member_id, m.account_id, a.plan, m.role
         FROM sessions s JOIN members m USING (member_id) JOIN accounts a USING (account_id)
         WHERE s.token_hash = $1 AND ${VALID}
       ), seen AS (
         UPDATE sessions SET last_seen_at = now(),
           expires_at = least(now() + interval '${IDLE_DAYS} days', created_at + interval '${MAX_SESSION_DAYS} days')
         WHERE session_id = (SELECT session_id FROM found) AND last_seen_at < now() - interval '1 minute'
       )
       SELECT * FROM found`,
      [hashOf(token)],
    );
    if (!row) {
      this.validBefore.delete(name);
      return undefined;
    }
    this.validBefore.set(name, true);
    return {
      accountId: row.account_id,
      plan: row.plan,
      role: isMemberRole(row.role) ? row.role : 'viewer',
      by: { kind: 'member', id: row.member_id, sessionId: row.session_id },
    };
  }

  /** Returns the valid sessions of a member, the last used first. */
  list(memberId: string): Promise<SessionRow[]> {
    return this.database.query(
      `SELECT s.session_id, s.created_at, s.last_seen_at, s.expires_at, s.user_agent, s.network_address
       FROM sessions s JOIN members m USING (member_id) WHERE s.member_id = $1 AND ${VALID}
       ORDER BY s.last_seen_at DESC, s.session_id`,
      [memberId],
    );
  }

  /** Ends a session of a member. @returns false if it does not exist */
  async end(memberId: string, sessionId: string): Promise<boolean> {
    const [, ended]: [unknown, number] = await this.database.query(
      'DELETE FROM sessions WHERE session_id = $1 AND member_id = $2',
      [sessionId, memberId],
    );
    return ended > 0;
  }

  /** Ends the session of a token, if there is one. */
  async endOf(token: string | undefined): Promise<void> {
    if (token === undefined || !TOKEN.test(token)) return;
    await this.database.query('DELETE FROM sessions WHERE token_hash = $1', [hashOf(token)]);
  }

  /**
   * Keeps this session valid after its member has changed the password. All other sessions of the member have ended.
   */
  async keep(sessionId: string, passwordVersion: number): Promise<void> {
    await this.database.query('UPDATE sessions SET password_version = $2 WHERE session_id = $1', [
      sessionId,
      passwordVersion,
    ]);
  }

  /** Deletes sessions that have ended. */
  async deleteOld(): Promise<void> {
    await deleteInParts(
      this.database,
      'sessions',
      `NOT EXISTS (SELECT 1 FROM members m WHERE m.member_id = s.member_id AND ${VALID})`,
    );
  }
}

/** Ends all sessions of all members, at every gateway. @returns the number of sessions that were stored */
export async function endAllSessions(database: Database): Promise<number> {
  const [, ended]: [unknown, number] = await database.query('DELETE FROM sessions');
  return ended;
}

/**
 * Returns the token that each write of a session must send in `x-csrf-token`. It is derived from the session's own
 * token, so it need not be stored. Scripts of a page cannot read the session's own token.
 */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}

/** Returns whether `given` is the CSRF token of the session with this token. Compares in constant time. */
export function isCsrfToken(token: string, given: string): boolean {
  const [wanted, sent] = [Buffer.from(csrfTokenOf(token)), Buffer.from(given)];
  return wanted.length === sent.length && timingSafeEqual(wanted, sent);
}

/** The token is random, so a slow hash would not protect it better than SHA-256. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function nameOf(token: string): string {
  return hashOf(token).toString('base64');
}
