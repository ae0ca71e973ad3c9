import { LRUCache } from 'lru-cache';
import { endpointIdOf } from '#kernel';
import type { Database } from '#postgres';
import type { SecretBox } from '#secrets';
import type { Signing } from './signature.js';

/** An address of an account: its signing settings and its state. */
export interface Endpoint {
  endpoint: string;
  signing: Signing;
  /** Why the address is disabled; undefined if it is not disabled. */
  disabledReason: string | undefined;
  /** All attempts since this time (ms) have failed; undefined if the endpoint works. */
  failingSince: number | undefined;
  /** The destination of a channel accepts nothing before this time (ms); 0 if it accepts messages now. */
  pausedUntil: number;
}

/** The present webhook of a watch or a keyword. */
export interface Webhook extends Endpoint {
  /** `endpointIdOf` */
  endpointId: string;
  /** False if the keyword's webhook gets only what rules send to it (`webhookMode: rules`). */
  isOrdinary: boolean;
  /** The types of events that a keyword sends; absent for a watch, which sends all. */
  only?: readonly string[];
}

/** An address of an account. */
export interface Address {
  accountId: string;
  endpoint: string;
}

interface Row {
  account_id: string;
  endpoint: string;
  signing_secret_encrypted: Buffer;
  /** Null if there is no previous secret, or if it is not valid any more. */
  previous_secret: Buffer | null;
  signature_version: string;
  disabled_reason: string | null;
  failing_since: Date | null;
  paused_until: Date | null;
}

/** For a query that joins `t (account_id, endpoint)`. */
const ENDPOINT_COLUMNS = `a.signing_secret_encrypted, a.signature_version, e.failing_since, e.paused_until,
  CASE WHEN e.disabled_at IS NOT NULL THEN coalesce(e.disabled_reason, '') END AS disabled_reason,
  CASE WHEN a.previous_signing_secret_valid_until > now() THEN a.previous_signing_secret_encrypted END AS previous_secret`;
const ENDPOINT_JOINS = `JOIN accounts a ON a.account_id = t.account_id
  LEFT JOIN webhook_endpoints e ON e.account_id = t.account_id AND e.endpoint = t.endpoint`;

/**
 * Reads the targets of events and the settings of their signatures. It reads them again for each batch, so a change
 * applies from the next event.
 */
export class Targets {
  private readonly secrets = new LRUCache<string, string>({ max: 10_000 });
  private readonly ids = new LRUCache<string, string>({ max: 10_000 });

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /**
   * The webhooks of watches and keywords, by the id of the watch or keyword. Deleted watches and keywords are left out,
   * and those without a webhook.
   */
  async webhooksOf(ids: readonly string[]): Promise<Map<string, Webhook>> {
    const rows: (Row & { id: string; mode: string; events: string[] | null })[] = await this.database.query(
      `SELECT t.*, ${ENDPOINT_COLUMNS}
       FROM (
         SELECT watch_id AS id, account_id, webhook_url AS endpoint, webhook_mode AS mode, NULL::jsonb AS events
         FROM watches WHERE watch_id = ANY($1) AND retired_at IS NULL
         UNION ALL
         SELECT keyword_id, account_id, NULLIF(definition->>'webhookUrl', ''), 'all', definition->'webhookEvents'
         FROM keywords WHERE keyword_id = ANY($1) AND state <> 'retired'
       ) AS t ${ENDPOINT_JOINS}
       WHERE t.endpoint IS NOT NULL`,
      [[...new Set(ids)]],
    );
    return new Map(
      rows.map((row) => [
        row.id,
        {
          ...this.endpointOf(row),
          endpointId: this.idOf(row),
          isOrdinary: row.mode === 'all',
          ...(row.events ? { only: row.events } : {}),
        },
      ]),
    );
  }

  /** The present state of the addresses, by `addressKey`. Addresses of accounts that do not exist are left out. */
  async endpoints(addresses: readonly Address[]): Promise<Map<string, Endpoint>> {
    if (addresses.length === 0) return new Map();
    const rows: Row[] = await this.database.query(
      `SELECT t.*, ${ENDPOINT_COLUMNS}
       FROM (SELECT DISTINCT * FROM unnest($1::uuid[], $2::text[]) AS u (account_id, endpoint)) AS t ${ENDPOINT_JOINS}`,
      [addresses.map(({ accountId }) => accountId), addresses.map(({ endpoint }) => endpoint)],
    );
    return new Map(
      rows.map((row) => [
        addressKey({ accountId: row.account_id, endpoint: row.endpoint }),
        this.endpointOf(row),
      ]),
    );
  }

  private endpointOf(row: Row): Endpoint {
    const sealed = [row.signing_secret_encrypted, ...(row.previous_secret ? [row.previous_secret] : [])];
    return {
      endpoint: row.endpoint,
      signing: {
        secrets: sealed.map((one) => this.open(one)),
        legacy: row.signature_version === 'legacy',
      },
      disabledReason: row.disabled_reason ?? undefined,
      failingSince: row.failing_since?.getTime(),
      pausedUntil: row.paused_until?.getTime() ?? 0,
    };
  }

  private idOf({ account_id, endpoint }: Row): string {
    const key = addressKey({ accountId: account_id, endpoint });
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const id = endpointIdOf(account_id, endpoint);
    this.ids.set(key, id);
    return id;
  }

  private open(sealed: Buffer): string {
    const key = sealed.toString('base64');
    const known = this.secrets.get(key);
    if (known !== undefined) return known;
    const secret = this.box.open(sealed);
    this.secrets.set(key, secret);
    return secret;
  }
}

/** A unique text for each address of each account. */
export function addressKey({ accountId, endpoint }: Address): string {
  return `${accountId} ${endpoint}`;
}
