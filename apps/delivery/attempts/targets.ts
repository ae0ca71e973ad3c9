import { LRUCache } from 'lru-cache';
import type { Database } from '#postgres';
import type { SecretBox } from '#secrets';

/** Where a watch's events go, and how they are signed. */
export interface Target {
  endpoint: string;
  secret: string;
  disabled: boolean;
  /** Since when the endpoint has done nothing but fail, in ms; undefined when it is well. */
  failingSince: number | undefined;
  /** The types of event that a keyword has asked for; absent: a watch's, which takes all. */
  only?: readonly string[];
}

interface Row {
  id: string;
  webhook_url: string;
  events: string[] | null;
  signing_secret_encrypted: Buffer;
  disabled_at: Date | null;
  failing_since: Date | null;
}

/** Reads, for each batch anew, what a watch's webhook is: a changed address holds from the next event on. */
export class Targets {
  private readonly secrets = new LRUCache<string, string>({ max: 10_000 });

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /**
   * Missing are watches without a webhook, those whose webhook only rules may use, and those that were deleted. The
   * events of a keyword itself stand under its own id.
   */
  async of(ids: readonly string[]): Promise<Map<string, Target>> {
    const rows: Row[] = await this.database.query(
      `SELECT t.*, a.signing_secret_encrypted, e.disabled_at, e.failing_since
       FROM (
         SELECT watch_id AS id, account_id, webhook_url, NULL::jsonb AS events FROM watches
         WHERE watch_id = ANY($1) AND retired_at IS NULL AND webhook_mode = 'all'
         UNION ALL
         SELECT keyword_id, account_id, NULLIF(definition->>'webhookUrl', ''), definition->'webhookEvents'
         FROM keywords WHERE keyword_id = ANY($1) AND state <> 'retired'
       ) AS t JOIN accounts a USING (account_id)
         LEFT JOIN webhook_endpoints e ON e.account_id = t.account_id AND e.endpoint = t.webhook_url
       WHERE t.webhook_url IS NOT NULL`,
      [[...new Set(ids)]],
    );
    return new Map(
      rows.map((row) => [
        row.id,
        {
          endpoint: row.webhook_url,
          secret: this.open(row.signing_secret_encrypted),
          disabled: row.disabled_at !== null,
          failingSince: row.failing_since?.getTime(),
          ...(row.events ? { only: row.events } : {}),
        },
      ]),
    );
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
