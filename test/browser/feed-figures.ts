import { until } from '#testing';
import { say } from './chromium.js';
import type { Dashboard } from './dashboard.js';

const SCROLLED = 10_000;
const MOST_HEAP_BYTES = 100_000_000;

/** The feed is fast and small, however many mentions it has. */
export function figureTasks(dashboard: Dashboard, mentions: number): void {
  it(`hold ${SCROLLED.toLocaleString('en')} mentions in less than 100 MB, with a few rows in the document`, async () => {
    const { page } = await dashboard.open('feed?window=90d');
    await page.getByRole('article').first().waitFor();
    await until(
      'the rows are loaded',
      async () => {
        await page.evaluate(
          `{ const feed = document.querySelector('[role=feed]'); feed.scrollTop = feed.scrollHeight; }`,
        );
        const last = await page.getByRole('article').last().getAttribute('aria-posinset');
        return Number(last) >= SCROLLED;
      },
      120_000,
    );
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('HeapProfiler.collectGarbage');
    const { usedSize } = await protocol.send('Runtime.getHeapUsage');
    say(`heap after ${SCROLLED} mentions: ${(usedSize / 1e6).toFixed(1)} MB`);
    expect(usedSize).toBeLessThan(MOST_HEAP_BYTES);
    expect(await page.getByRole('article').count()).toBeLessThan(60);
    await page.context().close();
  }, 150_000);

  it(`measure the time to the first row among ${mentions.toLocaleString('en')} mentions`, async () => {
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
    say(`first row of the feed after ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
    expect(times.every((ms) => ms > 0)).toBe(true);
  }, 150_000);
}
