import { until } from '#testing';
import { print } from './chromium.js';
import type { Dashboard } from './dashboard.js';

const SCROLLED = 10_000;
const MAX_HEAP_BYTES = 100_000_000;

/**
 * Tests of the feed with many mentions: its memory, its speed, and a next page that cannot be read. The titles continue
 * "the pages of the dashboard" (`pages.spec.ts`).
 */
export function figureTasks(dashboard: Dashboard, mentions: number): void {
  it(`hold ${SCROLLED.toLocaleString('en')} mentions in less than 100 MB, with fewer than 60 rows of the feed in the document`, async () => {
    const { page } = await dashboard.open('feed?window=90d');
    await page.getByRole('article').first().waitFor();
    await page.evaluate(scrollTo(SCROLLED));
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('HeapProfiler.collectGarbage');
    const { usedSize } = await protocol.send('Runtime.getHeapUsage');
    print(`heap after ${SCROLLED} mentions: ${(usedSize / 1e6).toFixed(1)} MB`);
    expect(usedSize).toBeLessThan(MAX_HEAP_BYTES);
    expect(await page.getByRole('article').count()).toBeLessThan(60);
    await page.context().close();
  }, 150_000);

  it(`show a first row of the feed with ${mentions.toLocaleString('en')} mentions, and the test prints how long this takes`, async () => {
    const times = [];
    for (let round = 0; round < 3; round++) {
      const { page } = await dashboard.newPage();
      await page.addInitScript(
        `new MutationObserver(() => { if (document.querySelector('[role=article]') && !window.first) window.first = performance.now(); }).observe(document, { childList: true, subtree: true })`,
      );
      await page.goto(dashboard.addressOf('feed'));
      await page.getByRole('article').first().waitFor();
      times.push((await page.evaluate('window.first')) as number);
      await page.context().close();
    }
    print(`first row of the feed after ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
    expect(times.every((ms) => ms > 0)).toBe(true);
  }, 150_000);

  it('show an error below the mentions if the next mentions cannot be read, and read them after a click on “Try again”', async () => {
    const { page } = await dashboard.newPage();
    const nextPage = '**/v1/mentions?*cursor=*';
    // The client does not repeat this request, because `Retry-After` is too long. After a failure with another status, it would
    // repeat the request for some seconds.
    await page.route(nextPage, (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '3600' },
        json: { error: 'too many requests', code: 'TOO_MANY_REQUESTS' },
      }),
    );
    await page.goto(dashboard.addressOf('feed?window=90d'));
    const feed = page.getByRole('feed');
    await feed.getByRole('article').first().waitFor();
    const problem = feed.getByRole('alert');
    // The list grows while its rows are measured, so one scroll is not always sufficient.
    await until('the end of the list is visible', async () => {
      await page.evaluate(`document.querySelector('[role=feed]').scrollTop = 1e6`);
      return (await problem.count()) === 1;
    });
    await problem.getByText('The next mentions could not be read').waitFor();
    await page.unroute(nextPage);
    await problem.getByRole('button', { name: 'Try again' }).click();
    await feed.locator('[aria-posinset="52"]').waitFor({ state: 'attached' });
    expect(await problem.count()).toBe(0);
    await page.context().close();
  }, 60_000);
}

/**
 * Code that scrolls to the end of the list repeatedly, until the list has this many rows. It runs in the page, because
 * that is faster than calls from the test.
 */
const scrollTo = (rows: number) => `(async () => {
  const feed = document.querySelector('[role=feed]');
  const last = () => [...feed.querySelectorAll('[role=article]')].at(-1)?.ariaPosInSet;
  while (Number(last()) < ${rows}) {
    feed.scrollTop = feed.scrollHeight;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})()`;
