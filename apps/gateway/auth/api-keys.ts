import { LRUCache } from 'lru-cache';
import { Inject, Injectable } from '@nestjs/common';
import { isMemberRole, type MemberRole } from '#contracts';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { hashApiKey, looksLikeApiKey, sameHash } from '#secrets';

/** The account and the rights of the caller. */
export interface Caller {
  accountId: string;
  plan: string;
  /** The rights of the caller: the role of the member, or the rights of the key expressed as a role. */
  role: MemberRole;
  by: CallingKey | { kind: 'member'; id: string; sessionId: string };
}

/** A caller with a key. */
export interface CallingKey {
  kind: 'key';
  id: string;
  /** Maximum credits per UTC day through MCP; null: the gateway's setting applies. */
  mcpDailyCredits: number | null;
}

interface CachedKey {
  hash: Buffer;
  caller: Caller;
  /** In ms; undefined if the key does not expire. */
  expiresAt: number | undefined;
}

interface Row {
  key_id: string;
  account_id: string;
  plan: string;
  scope: string;
  key_hash: Buffer;
  expires_at: Date | null;
  member_id: string | null;
  mcp_daily_credits: number | null;
  role: string | null;
}

/** In ms. A change of a key, its member or the plan has an effect in all gateways after at most this time. */
const CACHE_MS = 5000;

/** Checks API keys by their hash, with a cache of a few seconds in each gateway. */
@Injectable()
export class ApiKeys {
  /** Concurrent requests with the same key share one query. */
  private readonly cache = new LRUCache<string, CachedKey, Buffer>({
    max: 50_000,
    ttl: CACHE_MS,
    fetchMethod: (_, __, { context }) => this.load(context),
  });

  /** Hashes of keys that were valid when they were last used. */
  private readonly validBefore = new LRUCache<string, true>({ max: 50_000 });

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Returns whether the key was valid when this gateway last saw it. Reads only memory. */
  wasValid(key: string): boolean {
    return looksLikeApiKey(key) && this.validBefore.has(hashApiKey(key).toString('base64'));
  }

  /** Returns the caller of this key; undefined for an unknown, revoked or expired key. */
  async callerOf(key: string): Promise<Caller | undefined> {
    if (!looksLikeApiKey(key)) return undefined;
    const hash = hashApiKey(key);
    const name = hash.toString('base64');
    const known = await this.cache.fetch(name, { context: hash });
    const isValid =
      known && sameHash(known.hash, hash) && (known.expiresAt === undefined || known.expiresAt > Date.now());
    if (!isValid) {
      this.validBefore.delete(name);
      return undefined;
    }
    this.validBefore.set(name, true);
    return known.caller;
  }

  private async load(hash: Buffer): Promise<CachedKey | undefined> {
    // The use of a key is recorded when the key is loaded, not for each request. This is often enough to show whether
    // the key is used.
    const [row] = await this.database.query<Row[]>(
      `WITH found AS (
         SELECT k.key_id, k.account_id, a.plan, k.scope, k.key_hash, k.expires_at, k.member_id, k.mcp_daily_credits,
           m.role
         FROM api_keys k JOIN accounts a USING (account_id)
         LEFT JOIN members m ON m.member_id = k.member_id AND m.removed_at IS NULL
         WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.member_id IS NULL OR m.member_id IS NOT NULL)
       ), used AS (
         INSERT INTO api_key_uses (key_id, last_used_at) SELECT key_id, now() FROM found
         ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
       )
       SELECT * FROM found`,
      [hash],
    );
    return (
      row && {
        hash: row.key_hash,
        caller: {
          accountId: row.account_id,
          plan: row.plan,
          role: roleOf(row),
          by: { kind: 'key', id: row.key_id, mcpDailyCredits: row.mcp_daily_credits },
        },
        expiresAt: row.expires_at?.getTime(),
      }
    );
  }
}

/**
 * Returns the rights of a key as a role. A key has at most the rights of the member who created it. A key with the
 * scope `write` that the operator created has the rights of an owner.
 */
function roleOf({ scope, member_id, role }: Row): MemberRole {
  if (scope !== 'write') return 'viewer';
  if (member_id === null) return 'owner';
  return role !== null && isMemberRole(role) ? role : 'viewer';
}
