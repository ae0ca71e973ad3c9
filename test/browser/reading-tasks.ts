import { insertRows } from '#clickhouse';
import { until, type Json } from '#testing';
import { findingsInBothThemes } from './chromium.js';
import { mentionRow, sleepingKeyword } from './hostile-fields.js';
import { call } from './installation.js';
import { type Member, RECALL } from './member.js';

/** Tests: a member reads mentions in the feed. */
export function readingTasks(member: Member): void {
  it('finds mentions by their meaning, and pays the price that the button shows', async () => {
    const { page } = member;
    await member.open('feed');
    await page.getByText('Meaning', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Search mentions' }).fill('the battery is empty too early');
    await page.getByRole('button', { name: 'Search · 2 credits' }).click();
    await page.getByText('This search cost 2 credits.').waitFor();
    expect(await findingsInBothThemes(page)).toEqual([]);
    const first = await page.getByRole('article').first().innerText();
    expect(first).toContain('its battery hardly lasts the morning');
  }, 90_000);

  it('sees the mentions of one story as a single row, and opens the story', async () => {
    const { page } = member;
    await member.open('feed');
    const stories = page.getByRole('article').filter({ hasText: RECALL.title });
    await stories.nth(1).waitFor();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('checkbox', { name: 'One row per story' }).click();
    await until('one row is left', async () => (await stories.count()) === 1);
    await page.getByRole('button', { name: '1 more of this story' }).click();
    await until('the story is open', async () => (await stories.count()) === 2);
    expect(await page.getByRole('article').count()).toBe(4);
  }, 90_000);

  it.each([
    [1, 'The keyword’s mute did not apply.'],
    [2, 'None of the keyword’s 2 mutes applied.'],
  ])(
    'reads that no mute applied to a mention if the keyword has mutes (number of mutes: %i)',
    async (count, text) => {
      const { page } = member;
      const mutes = Array.from({ length: count }, () => ({ value: 'free', hit: false, detail: '' }));
      await page.route('**/v1/mentions/*/why', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...((await response.json()) as Json), mutes } });
      });
      await member.open('feed');
      await page.getByRole('article').first().getByRole('button').first().click();
      await page.getByText(text, { exact: true }).waitFor();
      await page.unroute('**/v1/mentions/*/why');
    },
    90_000,
  );

  it('sees dropped mentions on demand, each with the reason', async () => {
    const { clickhouse, page, accountId } = member;
    const { id: keyword_id, watches } = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    const owner = { account_id: accountId, keyword_id, watch_id: watches[0].id };
    const dropped = { title: 'A Lumora for free', dropped_reason: 'muted', dropped_rule: 'for free' };
    await insertRows(clickhouse, 'mentions', [mentionRow(owner, dropped)]);
    await member.open('feed');
    await page.getByRole('article').nth(3).waitFor();
    const row = page.getByRole('article').filter({ hasText: 'A Lumora for free' });
    expect(await row.count()).toBe(0);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('checkbox', { name: 'Also dropped mentions' }).click();
    await row.getByText('Dropped: muted (for free)').waitFor();
    expect(new URL(page.url()).searchParams.get('include')).toBe('dropped');
  }, 90_000);

  it('compares the mentions of a keyword with the mentions of its competitors', async () => {
    const { clickhouse, page, accountId } = member;
    const body = sleepingKeyword('Northwind', 'Which lamp?', { subjectRole: 'competitor' });
    const { id: keyword_id, watches } = await call(page, 'POST', '/v1/keywords', body);
    const owner = { account_id: accountId, keyword_id, watch_id: watches[0].id };
    await insertRows(clickhouse, 'mentions', [mentionRow(owner, { title: 'A Northwind' })]);
    const lumora = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    await member.open(`keywords/${lumora.id}`);
    const voices = page.getByRole('region', { name: 'Share of voice' });
    await voices.getByText('80% · 4').waitFor();
    await voices.getByText('20% · 1').waitFor();
    expect(await voices.getByRole('link').allInnerTexts()).toEqual(['Lumora', 'Northwind']);
  }, 90_000);
}
