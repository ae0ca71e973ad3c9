import { Inject, Injectable } from '@nestjs/common';
import { derivedId } from '#kernel';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { storyKeys } from './story-keys.js';
import type { Readable } from './readable.js';

/** The story of an item. */
export interface Story {
  storyId: string;
  /** True if an earlier item of the same keyword has one of the same story keys. */
  isRepeated: boolean;
}

/** An item with its story keys. */
interface KeyedItem {
  eventId: string;
  accountId: string;
  /** The keyword, or the lone watch. */
  ownerId: string;
  keys: readonly string[];
}

interface Row {
  account_id: string;
  key: string;
  owner_id: string;
  event_id: string;
  story_id: string;
}

/** Assigns the items of an account to stories, across sources and keywords. */
@Injectable()
export class Stories {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Finds the stories of items. @returns the stories by event id; items without a story key are left out */
  async of(items: readonly Readable[]): Promise<Map<string, Story>> {
    const keyed: KeyedItem[] = items
      .map(({ eventId, item, check }) => ({
        eventId,
        accountId: check.accountId,
        ownerId: check.keywordId || check.watchId,
        keys: storyKeys(item),
      }))
      .filter(({ keys }) => keys.length > 0);
    if (keyed.length === 0) return new Map();
    const known = new KnownKeys(await this.rows(keyed));
    const stories = new Map(keyed.map((one) => [one.eventId, known.assign(one)]));
    await this.add(known.added);
    return stories;
  }

  /**
   * Returns the first row of each key, and the rows of the key that belong to these keywords, oldest first. The other
   * rows are left out, because a key can have rows of many keywords.
   */
  private rows(keyed: readonly KeyedItem[]): Promise<Row[]> {
    const pairs = keyed.flatMap(({ accountId, keys }) => keys.map((key) => [accountId, key] as const));
    return this.database.query(
      // Because of OFFSET 0, Postgres does not use the index on `told_at`, which covers the stories of all accounts.
      `SELECT s.account_id, s.key, s.owner_id, s.event_id, s.story_id
       FROM (SELECT DISTINCT account_id, key FROM unnest($1::uuid[], $2::text[]) AS n (account_id, key)) AS f
         CROSS JOIN LATERAL (
           (SELECT k.account_id, k.key, k.owner_id, k.event_id, k.story_id, k.told_at
            FROM (SELECT account_id, key, owner_id, event_id, story_id, told_at FROM stories
                  WHERE account_id = f.account_id AND key = f.key OFFSET 0) AS k
            ORDER BY k.told_at, k.owner_id LIMIT 1)
           UNION
           SELECT o.account_id, o.key, o.owner_id, o.event_id, o.story_id, o.told_at FROM stories o
           WHERE o.account_id = f.account_id AND o.key = f.key AND o.owner_id = ANY($3)) AS s
       ORDER BY s.told_at, s.owner_id`,
      [
        pairs.map(([accountId]) => accountId),
        pairs.map(([, key]) => key),
        [...new Set(keyed.map(({ ownerId }) => ownerId))],
      ],
    );
  }

  private async add(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    await this.database.query(
      // The rows are inserted in order, so that two replicas cannot deadlock.
      `INSERT INTO stories (account_id, key, owner_id, event_id, story_id)
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[]) AS n (a, k, o, e, s)
       ORDER BY a, k, o ON CONFLICT DO NOTHING`,
      [
        rows.map((row) => row.account_id),
        rows.map((row) => row.key),
        rows.map((row) => row.owner_id),
        rows.map((row) => row.event_id),
        rows.map((row) => row.story_id),
      ],
    );
  }
}

/** The known keys of stories, and the rows for the keys that new items add. */
class KnownKeys {
  readonly added: Row[] = [];
  private readonly stories = new Map<string, string>();
  private readonly first = new Map<string, string>();

  constructor(rows: readonly Row[]) {
    for (const row of rows) this.remember(row);
  }

  assign({ eventId, accountId, ownerId, keys }: KeyedItem): Story {
    const storyId =
      keys.map((key) => this.stories.get(`${accountId} ${key}`)).find((id) => id !== undefined) ??
      derivedId('story', accountId, keys[0] ?? '');
    // An item that is read again after a crash finds its own keys, which do not make it a repetition.
    const isRepeated = keys.some((key) => {
      const first = this.first.get(`${accountId} ${key} ${ownerId}`);
      return first !== undefined && first !== eventId;
    });
    for (const key of keys) {
      const row = { account_id: accountId, key, owner_id: ownerId, event_id: eventId, story_id: storyId };
      if (this.remember(row)) this.added.push(row);
    }
    return { storyId, isRepeated };
  }

  /** Adds a row to the known keys. @returns whether the key is new for its keyword */
  private remember({ account_id, key, owner_id, event_id, story_id }: Row): boolean {
    const name = `${account_id} ${key}`;
    if (!this.stories.has(name)) this.stories.set(name, story_id);
    if (this.first.has(`${name} ${owner_id}`)) return false;
    this.first.set(`${name} ${owner_id}`, event_id);
    return true;
  }
}
