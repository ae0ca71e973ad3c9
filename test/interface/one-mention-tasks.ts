import { type MentionRow } from '#clickhouse';
import { newId } from '#kernel';
import { mentionRow, type InterfaceUnderTest } from './interface-under-test.js';

/** Tests of one mention: its details, and why it matched. */
export function oneMentionTasks(
  service: () => InterfaceUnderTest,
  write: (rows: MentionRow[]) => Promise<MentionRow[]>,
): void {
  describe('one mention', () => {
    it('contains the item and the reason of the match', async () => {
      const { accountId, api } = await service().tenant();
      const row = mentionRow(accountId, {
        keyword_id: newId(),
        occurred_at: '2026-03-04T05:06:07.089Z',
        published_at: '2026-03-04T05:00:00.000Z',
        likes: 0,
        dropped_reason: 'muted',
        dropped_rule: 'casino',
        verdicts: JSON.stringify([
          { step: 'mute', value: 'casino', hit: true, detail: 'word in text' },
          { step: 'vip', value: 'Ada', hit: false, detail: 'author' },
        ]),
      });
      await write([row]);
      const { body } = await api.get(`/v1/mentions/${row.event_id}`);
      expect(body).toEqual({
        id: row.event_id,
        keywordId: row.keyword_id,
        watchId: row.watch_id,
        exploreId: null,
        searchId: null,
        source: 'hackernews',
        type: 'hn_item.created',
        kind: 'story',
        url: 'https://example.org/1',
        title: 'Acme is here',
        text: 'All about acme.',
        excerpt: 'All about acme.',
        author: 'Ada',
        authorName: null,
        authorUrl: null,
        vip: false,
        community: null,
        lang: 'en',
        publishedAt: '2026-03-04T05:00:00.000Z',
        occurredAt: '2026-03-04T05:06:07.089Z',
        backfilled: false,
        matchedTerms: ['acme'],
        engagement: { likes: 0, replies: null, shares: null, views: null, score: null },
        media: [],
        truncated: false,
        labels: [],
        bucket: null,
        coBrands: [],
        ai: null,
        storyId: null,
        listing: null,
        dropped: { reason: 'muted', rule: 'casino' },
      });
      const why = await api.get(`/v1/mentions/${row.event_id}/why`);
      expect(why.body).toEqual({
        id: row.event_id,
        matchMode: 'word',
        matchedTerms: [{ term: 'acme', field: 'text' }],
        matches: [{ term: 'acme', field: 'text', start: 10, end: 14 }],
        mutes: [{ value: 'casino', hit: true, detail: 'word in text' }],
        vips: [{ handle: 'Ada', hit: false, detail: 'author' }],
        rules: [],
        readings: [],
        dropped: { reason: 'muted', rule: 'casino' },
        itemId: row.item_id,
        checkId: row.check_id,
        eventIds: [row.event_id],
      });
    });
  });
}
