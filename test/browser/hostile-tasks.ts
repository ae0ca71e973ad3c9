import { insertRows } from '#clickhouse';
import { until } from '#testing';
import { observation, observe } from '../interface/observed-listings.js';
import {
  harmlessFields,
  hostile,
  mentionRow,
  sleepingKeyword,
  writeHostileFields,
} from './hostile-fields.js';
import { directionsOf, harmIn, hostilePages, clippedTexts, missingIn } from './hostile-pages.js';
import { call } from './installation.js';
import type { Member } from './member.js';

/**
 * The right-to-left override. It reverses the text after it, up to the end of the paragraph or of the surrounding
 * `<bdi>`.
 */
const REVERSED = '\u202e';

/**
 * Calls `find` until it returns nothing, because the layout of a page changes while the page loads.
 * @returns the findings that remain after 20 s
 */
const remaining = (find: () => Promise<string[]>): Promise<string[]> =>
  until('nothing is found', async () => (await find()).length === 0, 20_000).then(() => [], find);

/** Tests of pages with texts of strangers. */
export function hostileTasks(member: Member): void {
  it('sees texts of strangers as plain text on every page, and links of strangers only if they are http(s)', async () => {
    const { stage, clickhouse, database, page, faults, accountId } = member;
    stage.simulator.world.publish('hackernews', {
      ...{ title: hostile('found'), text: 'About the Umbra.', author: hostile('poster') },
      link: 'javascript:hit=4',
    });
    const ids = await writeHostileFields(page, { clickhouse, database }, accountId);
    const mentions = await Promise.all(ids.mentionIds.map((id) => call(page, 'GET', `/v1/mentions/${id}`)));
    expect(harmlessFields(mentions)).toEqual([]);
    for (const { path, fields, open: openMore } of hostilePages(ids)) {
      await member.open(path);
      await openMore?.(page);
      const missing = await remaining(() => missingIn(page, fields));
      expect([path, missing, await harmIn(page)]).toEqual([path, [], []]);
      for (const width of [360, 1280]) {
        // The width is set only once, not in `remaining`: each change of the size restarts the page's animation.
        await page.setViewportSize({ width, height: 860 });
        expect([path, width, await remaining(() => clippedTexts(page))]).toEqual([path, width, []]);
      }
    }
    expect(faults).toEqual([]);
  }, 180_000);

  it('sees the text next to a stranger’s text in its usual direction, even if the stranger’s text is reversed', async () => {
    const { clickhouse, page, accountId } = member;
    const { id: channelId } = await call(page, 'POST', '/v1/channels', {
      ...{ kind: 'webhook', name: `${REVERSED}room`, config: { url: 'https://example.org/hook' } },
    });
    const more = { channels: [{ channelId, mode: 'daily' }] };
    const body = sleepingKeyword('Mirrors', 'Which mirror?', more);
    const { id: keyword_id, watches } = await call(page, 'POST', '/v1/keywords', body);
    const owner = { account_id: accountId, keyword_id, watch_id: watches[0].id };
    const mention = mentionRow(owner, {
      ...{ title: 'A mirror', author: 'plain_handle', author_name: `${REVERSED}name` },
      community: `${REVERSED}community`,
    });
    const written = [
      mention,
      mentionRow(owner, { author: `${REVERSED}author`, title: '\u200b\u3164', text: 'Seen.' }),
    ];
    await insertRows(clickhouse, 'mentions', written);
    await member.open(`feed?keyword=${keyword_id}&mention=${mention.event_id}`);
    await page.getByRole('heading', { name: 'A mirror' }).waitFor();
    expect(await directionsOf(page, 'plain_handle')).toEqual([true, true]);
    // A title of only invisible characters counts as missing.
    await page.getByRole('button', { name: 'Seen.' }).waitFor();
    await member.open(`keywords/${keyword_id}`);
    const authors = page.getByRole('region', { name: 'Top authors' });
    await authors.getByText('plain_handle').waitFor();
    expect(new Set(await directionsOf(page, 'Hacker News'))).toEqual(new Set([true]));
    await member.open('digests');
    await page.getByText(`${REVERSED}room`).first().waitFor();
    expect(await directionsOf(page, 'every day at 09:00')).not.toContain(false);
  }, 90_000);

  it('sees a currency that is not three letters as plain text after the price', async () => {
    const { clickhouse, page, accountId } = member;
    await observe(clickhouse, [observation(accountId, { listing_id: '9', currency: '<b>', price: '7.00' })]);
    await member.open('vinted?item=9');
    await page.getByRole('row', { name: /7 <b> – First seen/ }).waitFor();
  }, 60_000);
}
