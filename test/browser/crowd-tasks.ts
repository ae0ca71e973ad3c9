import { selectRows } from '#clickhouse';
import { until } from '#testing';
import { sleepingKeyword } from './hostile-fields.js';
import { call } from './installation.js';
import { publishMentions } from './many-mentions.js';
import type { Member } from './member.js';

/** Tests: the connection of a member is interrupted while many mentions arrive. */
export function crowdTasks(member: Member): void {
  it('sees each mention once after an interruption during which 2,100 mentions arrived', async () => {
    const { stage, clickhouse, page, accountId } = member;
    const { id: keywordId, watches } = await call(
      ...([page, 'POST', '/v1/keywords', sleepingKeyword('Crowd', 'crowd')] as const),
    );
    const owner = { accountId, keywordId, watchId: watches[0].id as string };
    const { natsUrl } = stage.stores;
    const titles = (count: number) => Array.from({ length: count }, (_, n) => `Crowd ${n + 1} of ${count}`);
    await publishMentions(natsUrl, owner, titles(1));
    const written = async () => {
      const sql = `SELECT uniqExact(event_id) AS n FROM mentions WHERE keyword_id = {keywordId: UUID}`;
      return Number((await selectRows<{ n: string }>(clickhouse, sql, { keywordId }))[0]?.n);
    };
    await until('the first mention is written', async () => (await written()) === 1);
    await page.route('**/v1/stream*', (route) => route.abort());
    await member.open(`feed?keyword=${keywordId}`);
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    await publishMentions(natsUrl, owner, titles(2100));
    await until('the other mentions are written', async () => (await written()) === 2101);
    await page.unroute('**/v1/stream*');
    const row = page.getByRole('article');
    await until(
      'the list is complete and ends with the oldest mention',
      async () => {
        await page.evaluate(
          `{ const feed = document.querySelector('[role=feed]'); feed.scrollTop = feed.scrollHeight; }`,
        );
        const last = row.last();
        if ((await last.getAttribute('aria-setsize')) !== '2101') return false;
        return (await last.innerText()).includes('Crowd 1 of 1');
      },
      60_000,
    );
    await page.getByText('Live', { exact: true }).waitFor();
  }, 120_000);
}
