import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import { CheckSchema, EventSchema, KeywordDefinitionSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database } from '#postgres';

const HOUR_MS = 3_600_000;

/** The stores of an installation under test. */
export interface AlertStores {
  database: Database;
  store: EventStore;
}

/** The ids of a keyword with one channel and one search; `searchId` is empty if its source has no separate searches. */
export type KeywordIds = Record<'accountId' | 'keywordId' | 'channelId' | 'watchId' | 'searchId', string>;

/** Publishes facts of a keyword, and reads the facts about it. */
export type KeywordScene = Awaited<ReturnType<typeof sceneOf>>;

/** Returns a rule that fires at five or more mentions in an hour, if this is at least twice the usual number. */
export function volumeRule(action: 'webhook' | 'notify') {
  const when = { kind: 'volume', window: '1h', min: 5, multiple: 2 };
  return { id: newId(), name: 'Many', enabled: true, when, then: [{ type: action }] };
}

/**
 * Inserts a keyword with a volume rule and an hourly digest, into the tables only, and publishes a check of its search:
 * see `sceneOf`.
 */
export async function keywordWithRule(stores: AlertStores, accountId: string): Promise<KeywordScene> {
  const { database } = stores;
  const [keywordId, searchId, watchId, channelId] = [newId(), newId(), newId(), newId()];
  const definition = create(KeywordDefinitionSchema, {
    name: 'Acme',
    rules: [volumeRule('webhook')],
    channels: [{ channelId, mode: 'hourly' }],
  });
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'Acme', 'active', $3, now(), now(), 1)`,
    [keywordId, accountId, JSON.stringify(toJson(KeywordDefinitionSchema, definition))],
  );
  await database.query(
    `INSERT INTO watches (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash,
       interval_seconds, webhook_mode, analysis, backfill, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'reddit', '{}', 'x', 60, 'all', true, false, true, now(), now())`,
    [watchId, accountId, keywordId, searchId],
  );
  await database.query(
    `INSERT INTO digest_turns (keyword_id, channel_id, mode, account_id, timezone, period_from, after_seq, due_at)
     VALUES ($1, $2, 'hourly', $3, 'UTC', now() - interval '1 day', 0, 'infinity')`,
    [keywordId, channelId, accountId],
  );
  return sceneOf(stores, { accountId, keywordId, channelId, watchId, searchId });
}

/**
 * Publishes a check that covers the last ten hours of a keyword's only search.
 * @returns functions for the facts of the keyword
 */
export async function sceneOf({ database, store }: AlertStores, { channelId, ...search }: KeywordIds) {
  const { accountId, keywordId: id, watchId } = search;
  const published: string[] = [];
  const ids = { ...search, source: 'reddit' };
  const now = Date.now();
  const check = create(CheckSchema, {
    ...{ ...ids, checkId: newId(), part: 1, parts: 1, finishedAt: isoOf(now) },
    windowFrom: isoOf(now - 10 * HOUR_MS),
    windowTo: isoOf(now),
  });
  await store.publish(subjectOf('CHECKS', accountId, watchId), toBinary(CheckSchema, check), newId());
  return {
    id,
    channelId,
    published,
    async publish(count: number) {
      for (let n = 0; n < count; n += 1) {
        const event = create(EventSchema, {
          ...{ ...ids, eventId: newId(), type: 'post.created', push: true },
          ...{ occurredAt: isoOf(Date.now()), countedAt: isoOf(Date.now()) },
          envelope: new TextEncoder().encode('{}'),
          matched: { item: { itemId: newId(), text: `mention ${n}` } },
        });
        published.push(event.eventId);
        await store.publish(
          subjectOf('EVENTS', accountId, watchId),
          toBinary(EventSchema, event),
          event.eventId,
        );
      }
    },
    makeDigestDue: () =>
      database.query('UPDATE digest_turns SET due_at = now(), claimed_until = now() WHERE keyword_id = $1', [
        id,
      ]),
    /**
     * Makes the keyword's next evaluation due now if it is due within 10 s. A claim sets `due_at` 60 s ahead, so this
     * does not repeat a running evaluation.
     */
    makeAlertDue: () =>
      database.query(
        `UPDATE alert_turns SET due_at = now()
         WHERE keyword_id = $1 AND due_at > now() AND due_at <= now() + interval '10 seconds'`,
        [id],
      ),
    facts: async (stream: 'ALERTS' | 'DIGESTS', ...tokens: string[]) =>
      (await store.read(stream, subjectOf(stream, accountId, id, ...tokens))).map(({ data }) => data),
    eventsOfKeyword: async () =>
      (await store.read('EVENTS', subjectOf('EVENTS', accountId, id))).map(({ data }) =>
        fromBinary(EventSchema, data),
      ),
  };
}

/** Inserts a channel, into the tables only: a webhook, or a verified address. */
export async function insertChannel(
  database: Database,
  accountId: string,
  channelId: string,
  to: { kind: 'email'; address: string } | { kind: 'webhook'; url: string },
): Promise<void> {
  const [config, addresses] = to.kind === 'email' ? [{}, [to.address]] : [{ url: to.url }, []];
  await database.query(
    `INSERT INTO channels (channel_id, account_id, kind, name, state, config, addresses, created_at, updated_at)
     VALUES ($1, $2, $3, 'Team', 'active', $4, $5, now(), now())`,
    [channelId, accountId, to.kind, config, addresses],
  );
  await database.query(
    `INSERT INTO channel_addresses (channel_id, address, state) SELECT $1, a, 'verified' FROM unnest($2::text[]) AS a`,
    [channelId, addresses],
  );
}

/** Reads a keyword from the tables, with the number of its planned digests. */
export async function rowOf(database: Database, keywordId: string) {
  const rows: { version: number; rules: object[]; turns: number }[] = await database.query(
    `SELECT k.version, k.definition->'rules' AS rules,
       (SELECT count(*)::int FROM digest_turns t WHERE t.keyword_id = k.keyword_id) AS turns
     FROM keywords k WHERE k.keyword_id = $1`,
    [keywordId],
  );
  return rows[0];
}

/** Reads the ids of a keyword's only search. */
export async function searchOf(
  database: Database,
  keywordId: string,
): Promise<{ watchId: string; searchId: string }> {
  const [row]: { watch_id: string; search_id: string | null }[] = await database.query(
    'SELECT watch_id, search_id FROM watches WHERE keyword_id = $1',
    [keywordId],
  );
  return { watchId: row?.watch_id ?? '', searchId: row?.search_id ?? '' };
}
