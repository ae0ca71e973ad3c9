import type { Page } from 'playwright-core';
import { until } from '#testing';
import { findingsInBothThemes, openPage, print, screenshot } from './chromium.js';
import { Dashboard } from './dashboard.js';
import { figureTasks } from './feed-figures.js';
import { ownerTasks } from './owner-tasks.js';

const MENTIONS = 100_000;
const MAX_FIRST_VIEW_BYTES = 200_000;
const DESK = { width: 1280, height: 860 };
const TELEPHONE = { width: 360, height: 740 };

/** Pages of a member. `$` is replaced by the id of the keyword. */
const PAGES = [
  ['start', 'Watch a brand'],
  ['feed', 'Feed'],
  ['keywords', 'Keywords'],
  ['keywords/new', 'New keyword'],
  ['keywords/$', 'Umbra Lamp'],
  ['keywords/$/edit', 'Edit keyword'],
  ['keywords/$/coverage', ''],
  ['keywords/$/rules', ''],
  ['explore', ''],
  ['answers', ''],
  ['vinted', ''],
  ['channels', ''],
  ['digests', ''],
  ['deliveries', ''],
  ['credits', ''],
  ['sources', 'Sources'],
  ['settings', 'Settings'],
  ['settings/members', 'Settings'],
  ['settings/keys', 'Settings'],
  ['settings/webhooks', 'Settings'],
  ['settings/security', 'Settings'],
  ['settings/audit-log', 'Settings'],
  ['no-such-page', 'No such page'],
] as const;

/** The pages that a person sees first: sign-in and sign-up, the first page of a new account, and then the feed. */
const FIRST_VIEWS = ['sign-in', 'sign-up', 'start', 'feed'];

describe('the pages of the dashboard', () => {
  const dashboard = new Dashboard();
  const weights = new Map<string, number>();
  const excesses = new Map<string, number>();

  beforeAll(() => dashboard.begin(MENTIONS), 120_000);
  afterAll(() => dashboard.end());

  it('have no serious accessibility fault in the light and in the dark theme', async () => {
    const { page, faults } = await dashboard.open('feed');
    const findings: Record<string, string[]> = {};
    for (const [path, title] of PAGES) {
      weights.set(path, await dashboard.visit(page, path));
      if (title) expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(title);
      const found = await findingsInBothThemes(page, (theme) => screenshot(page, `${nameOf(path)}-${theme}`));
      if (found.length > 0) findings[path] = found;
      await page.setViewportSize(TELEPHONE);
      excesses.set(path, await excessOf(page));
      await screenshot(page, `${nameOf(path)}-360`);
      await page.setViewportSize(DESK);
    }
    expect(findings).toEqual({});
    expect(faults).toEqual([]);
    await page.context().close();
  }, 240_000);

  it('fit a telephone of 360 pixels without scrolling sideways', () => {
    expect([...excesses]).toEqual(PAGES.map(([path]) => [path, 0]));
  });

  it.each(['sign-in', 'sign-up', 'reset-password'])(
    'have no serious accessibility fault if nobody is signed in: %s',
    async (path) => {
      const { page } = await openPage(dashboard.installation.browser);
      weights.set(path, await dashboard.visit(page, path));
      expect(await findingsInBothThemes(page, (theme) => screenshot(page, `${path}-${theme}`))).toEqual([]);
      await page.context().close();
    },
  );

  it('say that sign-up is off, even if there is no account and the address contains a code', async () => {
    const { page } = await openPage(dashboard.installation.browser);
    await page.route('**/v1/auth/options', async (route) => {
      const options = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...options, signUp: 'off', isFirst: true } });
    });
    await dashboard.visit(page, 'sign-up#code=abcd');
    await page.getByRole('heading', { name: 'Sign-up is off' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('link', { name: 'Create an account' }).count()).toBe(0);
    await page.context().close();
  });

  it('load less than 200 kB of compressed JavaScript for the first view', () => {
    for (const [path, bytes] of weights)
      print(`${(bytes / 1000).toFixed(0).padStart(5)} kB of JavaScript, gzip  /${path}`);
    for (const path of FIRST_VIEWS) expect(weights.get(path) ?? NaN).toBeLessThan(MAX_FIRST_VIEW_BYTES);
  });

  it('reload once if a file is missing after a release, and show an error if it is still missing', async () => {
    for (const isReleased of [true, false]) {
      const { page } = await dashboard.open('keywords');
      let [reloads, missed] = [0, 0];
      await page.route('**/assets/sources-*.js', (route) => {
        if (isReleased && reloads > 0) return route.continue();
        missed += 1;
        return route.fulfill({ status: 404 });
      });
      await page.route(dashboard.addressOf('sources'), (route) => {
        reloads += 1;
        return route.continue();
      });
      await page.getByRole('link', { name: 'Sources' }).click();
      await until('the page was reloaded', () => reloads === 1);
      if (!isReleased) await until('the file is missing again', () => missed >= 2);
      await page.getByRole('heading', { name: isReleased ? 'Sources' : 'This page failed' }).waitFor();
      expect(reloads).toBe(1);
      await page.context().close();
    }
  }, 60_000);

  figureTasks(dashboard, MENTIONS);
  ownerTasks(dashboard);
});

const nameOf = (path: string) => path.replaceAll('/', '-').replace('$', 'keyword');

/**
 * Returns the number of pixels by which the page is wider than its window, after the page has reached its final width.
 */
async function excessOf(page: Page): Promise<number> {
  const excess = () => page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  await until('the page fits', async () => (await excess()) === 0, 5_000).catch(() => 'see the result');
  return excess();
}
