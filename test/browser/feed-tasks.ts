import { readFileSync } from 'node:fs';
import { until } from '#testing';
import type { FirstMember } from './first-member.js';
import { call } from './installation.js';

/** Tests: the new member works with mentions. */
export function feedTasks(firstMember: FirstMember): void {
  it('reads and marks mentions with only the keyboard', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.keyboard.press('j');
    await page
      .getByRole('region', { name: 'Mention', exact: true })
      .getByRole('button', { name: 'Star', exact: true })
      .waitFor();
    const starred = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await page.keyboard.press('s');
    expect(((await (await starred).json()) as { labels: string[] }).labels).toEqual(['starred']);
    const flagged = page.waitForRequest((request) => request.method() === 'PATCH');
    for (const key of ['j', 'j', 'k', 'f']) await page.keyboard.press(key);
    const chosen = new URL(page.url()).searchParams.get('mention') ?? '?';
    expect((await flagged).url()).toContain(chosen);
    await page.keyboard.press('/');
    await page.keyboard.type('switch');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=switch/);
    await until(
      'only the mention with the word is left',
      async () => (await page.getByRole('article').count()) === 1,
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  }, 150_000);

  it('moves the focus to the open mention with the key Enter, and back to its row with Escape', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    const detail = page.getByRole('region', { name: 'Mention', exact: true });
    const focused = (selector: string) => page.locator(`${selector}:focus`);
    const [, second] = await page.getByRole('article').getByRole('button').all();
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await detail.and(focused('section')).waitFor();
    await detail.getByRole('button', { name: 'Close the mention' }).waitFor();
    await page.keyboard.press('Tab');
    await detail.getByRole('button', { name: 'Close the mention' }).and(focused('button')).waitFor();
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    await second!.and(focused('button')).waitFor();
    await page.keyboard.press('Enter');
    await detail.and(focused('section')).waitFor();
  }, 60_000);

  it('keeps the label that a colleague has set on the open mention', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.keyboard.press('k');
    const detail = page.getByRole('region', { name: 'Mention', exact: true });
    const reply = detail.getByRole('button', { name: 'Reply later' });
    await reply.waitFor();
    const id = new URL(page.url()).searchParams.get('mention');
    const path = `/v1/mentions/${id}`;
    const { labels } = await call(page, 'GET', path);
    await call(page, 'PATCH', path, { labels: [...labels, 'flagged'] });
    await reply.click();
    await detail.getByRole('button', { name: 'Flag', exact: true, pressed: true }).waitFor();
    expect((await call(page, 'GET', path)).labels).toEqual(expect.arrayContaining(['flagged', 'to_reply']));
    await call(page, 'PATCH', path, { labels });
  }, 60_000);

  it('sees two new labels of a mention while they are saved one after the other', async () => {
    const { page } = firstMember;
    const mention = '**/v1/mentions/*';
    await firstMember.openFeed();
    await page.keyboard.press('k');
    const detail = page.getByRole('region', { name: 'Mention', exact: true });
    const [star, flag] = ['Star', 'Flag'].map((name) => detail.getByRole('button', { name, exact: true }));
    await star!.waitFor();
    const before = await flag!.getAttribute('aria-pressed');
    const held: (() => Promise<void>)[] = [];
    await page.route(mention, (route) =>
      route.request().method() === 'PATCH' ? void held.push(() => route.continue()) : route.continue(),
    );
    for (const key of ['s', 'f']) await page.keyboard.press(key);
    await until('the first change is sent', () => held.length === 1);
    await held[0]!();
    await until('the second change is sent', () => held.length === 2);
    expect(await flag!.getAttribute('aria-pressed')).not.toBe(before);
    const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await held[1]!();
    await saved;
    expect(await flag!.getAttribute('aria-pressed')).not.toBe(before);
    await page.unroute(mention);
  }, 60_000);

  it('hides a mention with a key of the keyboard, and makes it visible again', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.keyboard.press('j');
    const hide = page
      .getByRole('region', { name: 'Mention', exact: true })
      .getByRole('button', { name: 'Hide', exact: true });
    for (const isHidden of [true, false]) {
      const changed = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
      await page.keyboard.press('e');
      const { labels } = (await (await changed).json()) as { labels: string[] };
      expect(labels.includes('hidden')).toBe(isHidden);
      await hide.and(page.locator(`[aria-pressed=${isHidden}]`)).waitFor();
    }
  }, 60_000);

  it('reads mentions with the keyboard in a window that is too narrow for a pane next to the list', async () => {
    const { page } = firstMember;
    await page.setViewportSize({ width: 800, height: 860 });
    await firstMember.openFeed();
    await page.getByRole('article').first().getByRole('button').first().click();
    const drawer = page.getByRole('dialog', { name: 'Mention' });
    const chosen = () => new URL(page.url()).searchParams.get('mention');
    await drawer.getByRole('button', { name: 'Star', exact: true }).waitFor();
    const first = chosen();
    await page.keyboard.press('j');
    await drawer.getByRole('button', { name: 'Star', exact: true }).waitFor();
    expect(chosen()).not.toBe(first);
    const flagged = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.keyboard.press('f');
    expect((await flagged).url()).toContain(chosen());
    await page.keyboard.press('k');
    await drawer.getByRole('button', { name: 'Star', exact: true }).waitFor();
    expect(chosen()).toBe(first);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(chosen()).toBeNull();
    await page.setViewportSize({ width: 1280, height: 860 });
  }, 60_000);

  it('sees mentions on a telephone even while the filters of the feed are open', async () => {
    const { page } = firstMember;
    for (const [width, height] of [
      [390, 844],
      [320, 640],
      [667, 375],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(`${firstMember.url}/feed?window=30d&source=hackernews`);
      const row = page.getByRole('article').first();
      await row.waitFor();
      const filters = page.getByRole('button', { name: 'Filters', exact: true });
      expect(await filters.getAttribute('aria-expanded')).toBe('false');
      await filters.click();
      await page.getByRole('button', { name: 'Remove all filters' }).waitFor();
      // A click scrolls to the row. It fails if nothing of the row can be seen.
      await row.getByRole('button').first().click();
      await page.waitForURL(/mention=/);
      const list = await page.getByRole('feed', { includeHidden: true }).boundingBox();
      expect(list?.height).toBeGreaterThanOrEqual(250);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
  }, 60_000);

  it('corrects a reading and sees why a mention matched', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.keyboard.press('j');
    const detail = page.getByRole('region', { name: 'Mention', exact: true });
    await detail.getByText(/in the text/).waitFor();
    const corrected = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await detail.getByLabel('Sentiment').selectOption('mixed');
    expect((await (await corrected).json()) as object).toMatchObject({ corrected: ['sentiment'] });
    await detail.getByText('corrected by a person').waitFor();
  }, 150_000);

  it('sees which sources do not work and which keywords are paused if the feed has no mentions', async () => {
    const { page } = firstMember;
    const [sources, paused] = ['**/v1/sources', '**/v1/keywords?state=paused'];
    await page.route(sources, async (route) => {
      const { data } = (await (await route.fetch()).json()) as { data: { id: string }[] };
      const changed = data.map((one) => ({ ...one, ...(one.id === 'hackernews' && { healthy: false }) }));
      await route.fulfill({ json: { data: changed } });
    });
    const { data } = await call(page, 'GET', '/v1/keywords');
    await page.route(paused, (route) =>
      route.fulfill({
        json: {
          data: Array.from({ length: 6 }, (_, index) => ({
            ...{ ...data[0], id: `${data[0].id}${index}` },
            ...{ state: 'paused', pausedReason: 'insufficient_credits' },
          })),
        },
      }),
    );
    await page.goto(`${firstMember.url}/feed?q=nobodywritesthis`);
    const troubles = page.getByRole('alert').filter({ hasText: 'Mentions can be missing' });
    await troubles.getByText('Checks fail on Hacker News.').waitFor();
    await troubles.getByText('No checks for Umbra Lamp').first().waitFor();
    expect(await troubles.getByText('Out of credits').count()).toBe(5);
    await troubles.getByRole('link', { name: 'more keywords' }).waitFor();
    await page.unroute(sources);
    await page.unroute(paused);
  }, 60_000);

  it('types the beginning of a period, which the feed uses only after Enter or when the field loses the focus', async () => {
    const { page } = firstMember;
    await page.goto(`${firstMember.url}/feed?since=2026-01-01T00:00:00Z`);
    await page.getByRole('button', { name: 'Filters' }).click();
    const from = page.getByLabel('From');
    const since = () => new URL(page.url()).searchParams.get('since');
    const before = since();
    await from.focus();
    // The language of the browser decides whether the day or the month comes first.
    // After the fourth digit of the year, the hour is next: a year with more digits is not possible.
    await page.keyboard.type('050520251030');
    expect(await from.inputValue()).toBe('2025-05-05T10:30');
    expect(since()).toBe(before);
    await page.keyboard.press('Enter');
    await page.waitForURL(/since=2025-05-05T08/);
    await from.blur();
    await from.focus();
    await page.keyboard.type('07');
    await from.blur();
    await page.waitForURL(/since=2025-(07-05|05-07)T08/);
  }, 60_000);

  it('reads that the result of a search by meaning cannot be exported', async () => {
    const { page } = firstMember;
    await page.goto(`${firstMember.url}/feed?q=switch&mode=semantic&window=30d`);
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export mentions' });
    await dialog.getByText('The result of a search by meaning cannot be exported').waitFor();
    expect(await dialog.getByRole('button', { name: 'Export' }).count()).toBe(0);
  }, 60_000);

  it('exports the mentions that the filters show, and saves the filters as a view', async () => {
    const { page, faults } = firstMember;
    await page.goto(`${firstMember.url}/feed?q=switch&window=30d`);
    await page.getByRole('article').first().waitFor();
    const shown = await page.getByRole('article').count();
    const counts: string[] = [];
    page.on('request', (request) => request.url().includes('/series?') && counts.push(request.url()));
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export mentions' });
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toHaveLength(shown + 1);
    expect(lines[1]).toContain('loose switch');
    await dialog.getByText(new RegExp(`^${shown} mentions?,`)).waitFor();
    // A new mention draws the page again.
    firstMember.post('Another Umbra Lamp with a switch.');
    await until('the mention is shown', async () => (await page.locator('[role=article]').count()) > shown);
    expect(counts).toHaveLength(1);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save these filters' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Switches');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await firstMember.openFeed();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Switches' }).click();
    await page.waitForURL(/q=switch/);
    expect(faults).toEqual([]);
  }, 60_000);
}
