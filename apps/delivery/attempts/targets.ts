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
}

interface Row {
  watch_id: string;
  webhook_url: string;
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

  /** Missing are watches without a webhook, those whose webhook only rules may use, and those that were deleted. */
  async of(watchIds: readonly string[]): Promise<Map<string, Target>> {
    const rows: Row[] = await this.database.query(
      `SELECT w.watch_id, w.webhook_url, a.signing_secret_encrypted, e.disabled_at, e.failing_since
       FROM watches w JOIN accounts a USING (account_id)
         LEFT JOIN webhook_endpoints e ON e.account_id = w.account_id AND e.endpoint = w.webhook_url
       WHERE w.watch_id = ANY($1) AND w.retired_at IS NULL
         AND w.webhook_url IS NOT NULL AND w.webhook_mode = 'all'`,
      [[...new Set(watchIds)]],
    );
    return new Map(
      rows.map((row) => [
        row.watch_id,
        {
          endpoint: row.webhook_url,
          secret: this.open(row.signing_secret_encrypted),
          disabled: row.disabled_at !== null,
          failingSince: row.failing_since?.getTime(),
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
