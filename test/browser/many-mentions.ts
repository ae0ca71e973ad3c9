import { create, toBinary } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '#clickhouse';
import { EventSchema } from '#contracts';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, subjectOf } from '#messaging';
import { createLogger } from '#telemetry';

const DAYS = 5;

/** Lets ClickHouse generate mentions of the last days, without events. */
export async function writeMentions(
  clickhouse: ClickHouseClient,
  accountId: string,
  keywordId: string,
  mentions: number,
): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO mentions
      (account_id, occurred_at, event_id, keyword_id, watch_id, search_id, check_id, source, type, kind, item_id, url,
       title, text, author, lang, matches, matched_terms, match_mode, media, verdicts, likes, replies)
      SELECT {accountId: UUID},
        now64(3, 'UTC') - toIntervalMillisecond(intDiv(number * ${DAYS * 86_400_000}, {mentions: UInt64})),
        generateUUIDv4(number), {keywordId: UUID}, {watchId: UUID}, {keywordId: UUID}, generateUUIDv4(number + 1),
        ['hackernews', 'reddit', 'bluesky', 'rss'][number % 4 + 1], 'post.created', 'post',
        toString(number),
        if(number % 3 = 0, concat('javascript:window.hit=', toString(number)), concat('https://example.org/', toString(number))),
        if(number % 2 = 0, concat('Post ', toString(number), ' about an Umbra Lamp <img src=x onerror=window.hit=1>'), ''),
        concat('All about the umbra lamp: ', hex(MD5(toString(number))), repeat(' and more of it', 20)),
        concat('<b onmouseover=window.hit=2>author', toString(number % 500)), 'en',
        '[{"term":"umbra lamp","field":"text","start":14,"end":24}]', ['umbra lamp'], 'word', '[]', '[]',
        number % 100, number % 10
      FROM numbers({mentions: UInt64})`,
    query_params: { accountId, mentions, keywordId, watchId: newId() },
  });
}

/** Publishes the events of mentions; analysis then writes the mentions. */
export async function publishMentions(
  natsUrl: string,
  owner: { accountId: string; keywordId: string; watchId: string },
  titles: readonly string[],
): Promise<void> {
  const bus = await connectBus(natsUrl, 'test', createLogger('test', 'silent'));
  const store = new EventStore(bus);
  const subject = subjectOf('EVENTS', owner.accountId, owner.watchId);
  const publish = (title: string) => {
    const [eventId, occurredAt] = [newId(), isoOf(Date.now())];
    const item = { itemId: eventId, title, text: '', url: 'https://example.org', bodyJson: '{}' };
    const kind = { source: 'hackernews', type: 'hn_item.created' };
    const event = create(EventSchema, {
      ...owner,
      ...kind,
      eventId,
      checkId: newId(),
      occurredAt,
      matched: { item },
    });
    return store.publish(subject, toBinary(EventSchema, event), eventId);
  };
  await Promise.all(titles.map(publish)).finally(() => bus.close());
}
