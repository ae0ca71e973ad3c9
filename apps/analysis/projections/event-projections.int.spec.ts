import { create, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { applyBatch } from '#projections';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { digestItemsProjection } from './digest-items.projection.js';
import { mentionCountsProjection } from './mention-counts.projection.js';

const DAY_MS = 24 * 3_600_000;
const [accountId, keywordId, watchId] = [newId(), newId(), newId()];
let spec: SpecDatabase;

beforeAll(async () => (spec = await openSpecDatabase()));
beforeEach(async () => {
  for (const table of [
    'digest_items',
    'mention_counts',
    'counted_mentions',
    'projection_positions',
    'keywords',
  ])
    await spec.database.query(`DELETE FROM ${table}`);
  await spec.database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'Acme', 'active', '{"channels": [{"mode": "daily"}]}', now(), now(), 1)`,
    [keywordId, accountId],
  );
});
afterAll(() => spec?.drop());

/** Returns a message of EVENTS, as a consumer gets it: it does not name its predecessor. */
function message(seq: number, { text = 'acme', ageDays = 0 } = {}): JsMsg {
  const occurredAt = isoOf(Date.now() - ageDays * DAY_MS);
  const item = { itemId: newId(), kind: 'post', source: 'rss', text, publishedAt: occurredAt };
  const event = {
    eventId: newId(),
    accountId,
    keywordId,
    watchId,
    occurredAt,
    push: true,
    matched: { item },
  };
  const data = toBinary(EventSchema, create(EventSchema, event));
  return { subject: subjectOf('EVENTS', accountId, watchId), seq, data } as unknown as JsMsg;
}

async function apply(...batch: JsMsg[]): Promise<void> {
  for (const projection of [digestItemsProjection, mentionCountsProjection])
    await applyBatch(spec.database, projection, batch);
}

async function stored(): Promise<{ items: number; counted: number }> {
  const [row] = await spec.database.query<{ items: number; counted: number }[]>(
    `SELECT (SELECT count(*)::int FROM digest_items) AS items,
       (SELECT COALESCE(sum(total), 0)::int FROM mention_counts) AS counted`,
  );
  return row!;
}

describe('the items of digests and the counts of alerts', () => {
  it('contain all events of a watch, even if two replicas apply the events in another order', async () => {
    const [first, second, third, fourth] = [1, 2, 3, 4].map((seq) => message(seq)) as [
      JsMsg,
      JsMsg,
      JsMsg,
      JsMsg,
    ];
    await apply(second, fourth);
    await apply(first, third);
    expect(await stored()).toEqual({ items: 4, counted: 4 });
  });

  it('contain an event only once if it is delivered again', async () => {
    const messages = [1, 2, 3].map((seq) => message(seq));
    await apply(...messages);
    await apply(...messages);
    expect(await stored()).toEqual({ items: 3, counted: 3 });
  });

  it('count an old event only once, even after its id was deleted and the stream is read again', async () => {
    const old = message(1, { ageDays: 9 });
    await apply(old);
    await spec.database.query('DELETE FROM counted_mentions');
    await apply(old, message(2));
    expect((await stored()).counted).toBe(2);
  });

  it('contain items whose text has the character U+0000 or the six characters of its escaped form', async () => {
    await apply(
      message(1, { text: 'ERROR: \\u0000 cannot be converted' }),
      message(2, { text: 'a\0b \\u0000n' }),
    );
    const rows: { excerpt: string }[] = await spec.database.query(
      `SELECT item->'item'->>'excerpt' AS excerpt FROM digest_items ORDER BY seq`,
    );
    expect(rows.map(({ excerpt }) => excerpt)).toEqual(['ERROR: \\u0000 cannot be converted', 'ab \\u0000n']);
  });
});
