import type { Page, Route } from 'playwright-core';
import { until } from '#testing';
import { openPage } from './chromium.js';
import { call, OWNER } from './installation.js';
import type { FirstMember } from './first-member.js';

/** Fields of a post that an attacker controls, each with a text that tries to run code or to mislead the reader. */
const HOSTILE = {
  title: '<img src=x onerror="window.hit=1"> Umbra Lamp <script>window.hit=2</script>',
  text: `\u202eesrever Umbra Lamp <svg onload="window.hit=3"> ${'A'.repeat(65_000)}`,
  author: '"><img src=x onerror=window.hit=4>',
  link: 'javascript:window.hit=5',
};

const STREAM = '**/v1/stream*';
const unavailable = (route: Route) =>
  route.fulfill({ status: 503, json: { error: 'later', code: 'UNAVAILABLE' } });

/** Tests of the live feed: hostile posts, and interruptions of the connection and the session. */
export function liveFeedTasks(firstMember: FirstMember): void {
  it('sees hostile posts as text, without clickable links to scripts', async () => {
    const { page, faults } = firstMember;
    await firstMember.openFeed();
    firstMember.post(HOSTILE.text, HOSTILE);
    const row = page.getByRole('article').filter({ hasText: '<img src=x onerror' });
    await row.waitFor({ timeout: 60_000 });
    await row.getByRole('button').first().click();
    const detail = page.getByRole('region', { name: 'Mention', exact: true });
    await detail.getByRole('heading', { name: /<script>/ }).waitFor();
    await detail.getByRole('button', { name: /^Show all/ }).click();
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(await page.locator('a[href^="javascript:"], img').count()).toBe(0);
    const rels = await page
      .locator('a[target="_blank"]')
      .evaluateAll((links) => links.map((link) => (link as unknown as { rel: string }).rel));
    expect(new Set([...rels, 'noopener noreferrer nofollow'])).toEqual(
      new Set(['noopener noreferrer nofollow']),
    );
    const width = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(width).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
  }, 150_000);

  it('sees the mentions that arrived while the live connection was interrupted', async () => {
    const { page } = firstMember;
    await page.route(STREAM, unavailable);
    await page.goto(`${firstMember.url}/feed?window=30d`);
    await page.getByRole('article').first().waitFor();
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    firstMember.post('An Umbra Lamp that came during the outage.');
    await until('the mention is found', async () => isFound(page, 'outage'), 30_000);
    expect(await page.getByText('came during the outage').count()).toBe(0);
    await page.unroute(STREAM);
    await page.getByText('came during the outage').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  }, 90_000);

  it('sees the mentions that arrived while the page was hidden and had no live connection', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.evaluate(setHidden(true));
    await page.getByText('Connecting', { exact: true }).waitFor();
    firstMember.post('An Umbra Lamp that came behind another tab.');
    await until('the mention is found', async () => isFound(page, 'behind'), 30_000);
    expect(await page.getByText('came behind another tab').count()).toBe(0);
    await page.evaluate(setHidden(false));
    await page.getByText('came behind another tab').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  }, 90_000);

  it('sees that Earshot cannot be reached while there is no network, and reads the mentions when the network is back', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.context().setOffline(true);
    await page.getByRole('textbox', { name: 'Search mentions' }).fill('outage');
    await page.keyboard.press('Enter');
    const problem = page.getByRole('alert').filter({ hasText: 'The mentions cannot be shown' });
    await problem.getByText('Earshot cannot be reached').waitFor();
    await page.context().setOffline(false);
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('came during the outage').waitFor();
  }, 60_000);

  it('reads that a label was not changed because there is no network, although the code of notifications is not loaded', async () => {
    const { page } = firstMember;
    const code = '**/assets/notifications-*';
    await firstMember.openFeed();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Star', exact: true }).waitFor();
    await page.route(code, (route) => route.abort());
    await page.context().setOffline(true);
    await page.keyboard.press('s');
    const alert = page.getByRole('alert').filter({ hasText: 'The mention was not changed' });
    await alert.getByText('Earshot cannot be reached. Check the connection and try again.').waitFor();
    await page.getByRole('article').first().waitFor();
    await alert.getByRole('button', { name: 'Close' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.context().setOffline(false);
    await page.unroute(code);
  }, 60_000);

  it('reads that the label of a mention may have changed if no answer comes within 15 seconds', async () => {
    const { page } = await openPage(firstMember.installation.browser);
    await page.context().addCookies(await firstMember.page.context().cookies());
    await page.clock.install();
    await page.goto(`${firstMember.url}/feed?window=30d`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Star', exact: true }).waitFor();
    await page.route('**/v1/mentions/*', (route) =>
      route.request().method() === 'PATCH' ? undefined : route.continue(),
    );
    for (const keys of ['s', 'js']) {
      // Less than the 15 s after which the first change ends.
      const sent = page.waitForRequest((request) => request.method() === 'PATCH', { timeout: 10_000 });
      for (const key of keys) await page.keyboard.press(key);
      await sent;
    }
    await page.clock.runFor(15_000);
    const alert = page.getByRole('alert').filter({ hasText: 'The mention was not changed' });
    await alert.getByText('Earshot can have carried out the request all the same').first().waitFor();
    await page.context().close();
  }, 60_000);

  it('reads that the mentions cannot be shown, after three requests without an answer', async () => {
    const { page } = await openPage(firstMember.installation.browser);
    await page.context().addCookies(await firstMember.page.context().cookies());
    await page.clock.install();
    let attempts = 0;
    await page.route('**/v1/mentions?*', () => {
      attempts += 1;
    });
    await page.goto(`${firstMember.url}/feed`);
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    const problem = page.getByRole('alert').filter({ hasText: 'The mentions cannot be shown' });
    await until('the problem is shown', async () => {
      await page.clock.runFor(5_000);
      return (await problem.count()) > 0;
    });
    expect(attempts).toBe(3);
    await page.context().close();
  }, 60_000);

  it('sees the mentions that arrived between the end of the session and the new sign-in', async () => {
    const { page, faults } = firstMember;
    await firstMember.openFeed();
    firstMember.post('An Umbra Lamp that came before the end.');
    await page.getByText('came before the end').waitFor();
    const { page: other } = await openPage(firstMember.installation.browser);
    await other.goto(firstMember.url);
    await other.request.post(`${firstMember.url}/v1/auth/sign-in`, { data: OWNER });
    await page.route(STREAM, unavailable);
    await call(page, 'POST', '/v1/auth/sign-out');
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    for (const n of [1, 2]) firstMember.post(`Umbra Lamp number ${n} after the end.`);
    await until('the mentions are found', async () => isFound(other, 'after', 2), 30_000);
    await other.context().close();
    await page.unroute(STREAM);
    await firstMember.signInAgain();
    for (const n of [1, 2]) await page.getByText(`number ${n} after the end`).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.getByText('came before the end').count()).toBe(1);
    expect(faults).toEqual([]);
  }, 120_000);
}

const isFound = async (page: Page, word: string, times = 1) =>
  (await call(page, 'GET', `/v1/mentions?q=${word}`)).data.length === times;

/** Code that hides the page, as if the member had opened another tab, or shows it again. */
const setHidden = (isHidden: boolean) => `
  Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`;
