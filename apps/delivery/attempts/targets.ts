import { LRUCache } from 'lru-cache';
import { endpointIdOf } from '#kernel';
import type { Database } from '#postgres';
import type { SecretBox } from '#secrets';
import type { Target } from './delivery.js';
import type { Signing } from './signature.js';

/** An address of an account: its signing settings and its state. */
export interface Endpoint {
  endpoint: string;
  signing: Signing;
  /** Why the address is disabled; undefined if it is not disabled. */
  disabledReason: string | undefined;
  /**
   * The time (ms) from which on all attempts have failed; undefined if no attempt has failed since the last success.
   */
  failingSince: number | undefined;
  /** True while the destination of a channel accepts nothing. */
  isPaused: boolean;
}

/** The present webhook of a watch or a keyword. */
export interface Webhook extends Endpoint {
  /** The target of the webhook's deliveries; its id comes from `endpointIdOf`. */
  target: Target;
  /**
   * False only for a watch whose webhook gets only the events that rules send to it (`webhookMode: rules`). Always true
   * for the events about a keyword itself.
   */
  isOrdinary: boolean;
  /** The types of events about itself that a keyword sends to the webhook. Absent: all types, as for a watch. */
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
  /** In hexadecimal digits. */
  secret: string;
  /** Null if there is no previous secret, or if it is not valid any more. */
  previous_secret: string | null;
  is_legacy: boolean;
  disabled_reason: string | null;
  /** In ms since the epoch. */
  failing_since: number | null;
  is_paused: boolean;
}

type WebhookRow = Row & { id: string; is_ordinary: boolean; events: string[] | null };

/**
 * The columns of an endpoint, for a query whose FROM names its addresses `t`, with the columns `account_id` and
 * `endpoint`. Needs `ENDPOINT_JOINS`.
 */
const ENDPOINT_COLUMNS = `t.account_id, t.endpoint, encode(a.signing_secret_encrypted, 'hex') AS secret,
  CASE WHEN a.previous_signing_secret_valid_until > now()
    THEN encode(a.previous_signing_secret_encrypted, 'hex') END AS previous_secret,
  a.signature_version = 'legacy' AS is_legacy,
  CASE WHEN e.disabled_at IS NOT NULL THEN coalesce(e.disabled_reason, '') END AS disabled_reason,
  (extract(epoch FROM e.failing_since) * 1000)::float8 AS failing_since,
  coalesce(e.paused_until > clock_timestamp(), false) AS is_paused`;
const ENDPOINT_JOINS = `JOIN accounts a ON a.account_id = t.account_id
  LEFT JOIN webhook_endpoints e ON e.account_id = t.account_id AND e.endpoint = t.endpoint`;

/**
 * $1: ids of watches and keywords. The ids are joined, because `= ANY ($1)` can have a slow plan in a prepared
 * statement.
 */
const WEBHOOKS = `SELECT t.id, t.is_ordinary, t.events, ${ENDPOINT_COLUMNS}
  FROM (
    SELECT w.watch_id AS id, w.account_id, w.webhook_url AS endpoint, w.webhook_mode = 'all' AS is_ordinary, NULL::jsonb AS events
    FROM unnest($1::uuid[]) AS k (id) JOIN watches w ON w.watch_id = k.id WHERE w.retired_at IS NULL
    UNION ALL
    SELECT w.keyword_id, w.account_id, NULLIF(w.definition->>'webhookUrl', ''), true, w.definition->'webhookEvents'
    FROM unnest($1::uuid[]) AS k (id) JOIN keywords w ON w.keyword_id = k.id WHERE w.state <> 'retired'
  ) AS t ${ENDPOINT_JOINS}
  WHERE t.endpoint IS NOT NULL`;

/** $1: ids of accounts, $2: one address for each of them. */
const ENDPOINTS = `SELECT ${ENDPOINT_COLUMNS}
  FROM (SELECT DISTINCT account_id, endpoint FROM unnest($1::uuid[], $2::text[]) AS u (account_id, endpoint)) AS t ${ENDPOINT_JOINS}`;

/**
 * Reads the targets of events and the settings of their signatures. Both are read again for each batch, so a change
 * applies from the next batch.
 */
export class Targets {
  private readonly secrets = new LRUCache<string, string>({ max: 10_000 });
  private readonly targets = new LRUCache<string, Target>({ max: 10_000 });

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /**
   * Returns the webhooks of watches and keywords, by the id of the watch or keyword. Watches and keywords that were
   * retired or purged, or have no webhook, are left out.
   */
  async webhooksOf(ids: readonly string[]): Promise<Map<string, Webhook>> {
    const webhooks = new Map<string, Webhook>();
    for (const row of await this.rows<WebhookRow>(WEBHOOKS, [[...new Set(ids)]])) {
      const webhook: Webhook = {
        ...this.endpointOf(row),
        target: this.targetOf(row),
        isOrdinary: row.is_ordinary,
      };
      if (row.events) webhook.only = row.events;
      webhooks.set(row.id, webhook);
    }
    return webhooks;
  }

  /**
   * Returns the present state of the addresses, by `addressKey`. Addresses of accounts that do not exist are left out.
   */
  async endpoints(addresses: readonly Address[]): Promise<Map<string, Endpoint>> {
    if (addresses.length === 0) return new Map();
    const rows = await this.rows<Row>(ENDPOINTS, [
      addresses.map(({ accountId }) => accountId),
      addresses.map(({ endpoint }) => endpoint),
    ]);
    return new Map(
      rows.map((row) => [
        addressKey({ accountId: row.account_id, endpoint: row.endpoint }),
        this.endpointOf(row),
      ]),
    );
  }

  /** Reads all rows as one JSON value. Reading the columns of each row with pg takes several times as long. */
  private async rows<R>(query: string, parameters: unknown[]): Promise<R[]> {
    const [found]: { rows: R[] | null }[] = await this.database.query(
      `SELECT json_agg(r) AS rows FROM (${query}) AS r`,
      parameters,
    );
    return found?.rows ?? [];
  }

  private endpointOf(row: Row): Endpoint {
    const { secret, previous_secret: previous } = row;
    const sealed = previous === null ? [secret] : [secret, previous];
    const open = () => sealed.map((one) => this.open(one));
    return {
      endpoint: row.endpoint,
      // A secret is decrypted when it signs. If it cannot be decrypted, only deliveries of its account fail.
      signing: {
        get secrets() {
          return open();
        },
        legacy: row.is_legacy,
      },
      disabledReason: row.disabled_reason ?? undefined,
      failingSince: row.failing_since ?? undefined,
      isPaused: row.is_paused,
    };
  }

  private targetOf({ account_id, endpoint }: Row): Target {
    const key = addressKey({ accountId: account_id, endpoint });
    const known = this.targets.get(key);
    if (known) return known;
    const target: Target = { kind: 'webhook', id: endpointIdOf(account_id, endpoint) };
    this.targets.set(key, target);
    return target;
  }

  private open(sealed: string): string {
    const known = this.secrets.get(sealed);
    if (known !== undefined) return known;
    const secret = this.box.open(Buffer.from(sealed, 'hex'));
    this.secrets.set(sealed, secret);
    return secret;
  }
}

/** Returns a unique text for each address of each account. */
export function addressKey({ accountId, endpoint }: Address): string {
  return `${accountId} ${endpoint}`;
}
