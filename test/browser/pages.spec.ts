import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page, Request } from 'playwright-core';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { checkout, until } from '#testing';
import { findingsInBothThemes, openPage, screenshot, seriousFindings, type Theme } from './chromium.js';
import { call, openBrowserStage, OWNER, signUpThroughApi, type BrowserStage } from './installation.js';
import { writeMentions } from './many-mentions.js';

const MENTIONS = 100_000;
const SCROLLED = 10_000;
const LONGEST_CHECK_MS = 60_000;
const MOST_HEAP_BYTES = 100_000_000;
const MOST_FIRST_VIEW_BYTES = 200_000;

/** Pages of a member; `$` stands for the keyword. */
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

/** What somebody sees first: the way in, the first page of a new account, and after that the feed. */
const FIRST_VIEWS = ['sign-in', 'sign-up', 'start', 'feed'];

const say = (line: string) => process.stderr.write(`${line}\n`);

describe('the pages of the dashboard', () => {
  let stage: BrowserStage;
  let clickhouse: ClickHouseClient;
  let cookies: Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>;
  let keywordId: string;
  const weights = new Map<string, number>();

  beforeAll(async () => {
    stage = await openBrowserStage();
    clickhouse = await openClickHouse(stage.stage.stores.clickhouseUrl, 'test');
    const { page } = await openPage(stage.browser);
    const { account } = await signUpThroughApi(page, stage);
    cookies = await page.context().cookies();
    ({ id: keywordId } = await call(page, 'POST', '/v1/keywords', {
      name: 'Umbra Lamp',
      refreshIntervalSeconds: 60,
      globalCriteria: { market: 'global', query: 'umbra lamp' },
      sources: [{ source: 'hackernews', enabled: true }],
    }));
    await writeMentions(clickhouse, account.id, keywordId, MENTIONS);
    await page.context().close();
  }, 120_000);

  afterAll(async () => {
    await clickhouse?.close();
    await stage?.close();
  });

  const addressOf = (path: string) => `${stage.url}/${path.replace('$', keywordId)}`;

  async function open(path: string, theme: Theme = 'light', viewport = { width: 1280, height: 860 }) {
    const opened = await openPage(stage.browser, { colorScheme: theme, viewport });
    await opened.page.context().addCookies(cookies);
    await opened.page.goto(addressOf(path));
    return opened;
  }

  /** Skeletons are gone: what is read is there. */
  const settled = (page: Page) =>
    until('the page is loaded', async () => {
      // In this order: the heading and the skeletons appear together.
      if ((await page.getByRole('heading', { level: 1 }).count()) !== 1) return false;
      return (await page.locator('[aria-busy="true"], [aria-label="Loading the page"]').count()) === 0;
    });

  /** Opens a page, and notes how much JavaScript it needs. */
  async function visit(page: Page, path: string): Promise<void> {
    const scripts = new Set<string>();
    const note = (request: Request) => scripts.add(new URL(request.url()).pathname);
    page.on('request', note);
    await page.goto(addressOf(path));
    await settled(page);
    page.off('request', note);
    weights.set(path, gzippedBytes(scripts));
  }

  it('have no serious finding of axe with the light and the dark theme', async () => {
    const { page, faults } = await open('feed');
    const findings: Record<string, string[]> = {};
    for (const [path, title] of PAGES) {
      await visit(page, path);
      if (title) expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(title);
      const found = await findingsInBothThemes(page, (theme) =>
        screenshot(page, `${nameOf(path)}-${theme}`, path !== 'feed'),
      );
      if (found.length > 0) findings[path] = found;
    }
    expect(findings).toEqual({});
    expect(faults).toEqual([]);
    await page.context().close();
  }, 240_000);

  it('fit a telephone of 360 pixels without scrolling sideways', async () => {
    const { page } = await open('feed', 'light', { width: 360, height: 740 });
    for (const [path] of PAGES) {
      await page.goto(addressOf(path));
      await settled(page);
      const excess = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect([path, excess]).toEqual([path, 0]);
      await screenshot(page, `${nameOf(path)}-360`, path !== 'feed');
    }
    await page.context().close();
  }, 150_000);

  it.each(['sign-in', 'sign-up', 'reset-password'])(
    'before the sign-in, %s has no serious finding',
    async (path) => {
      for (const theme of ['light', 'dark'] as const) {
        const { page } = await openPage(stage.browser, { colorScheme: theme });
        await visit(page, path);
        await screenshot(page, `${path}-${theme}`);
        expect(await seriousFindings(page)).toEqual([]);
        await page.context().close();
      }
    },
  );

  it('load less than 200 kB of compressed JavaScript for the first view', () => {
    for (const [path, bytes] of weights)
      say(`${(bytes / 1000).toFixed(0).padStart(5)} kB of JavaScript, gzip  /${path}`);
    for (const path of FIRST_VIEWS) expect(weights.get(path) ?? NaN).toBeLessThan(MOST_FIRST_VIEW_BYTES);
  });

  it('reload once when a file is missing after a release, and report it if it is missing again', async () => {
    for (const isReleased of [true, false]) {
      const { page } = await open('keywords');
      let [reloads, missed] = [0, 0];
      await page.route('**/assets/sources-*.js', (route) => {
        if (isReleased && reloads > 0) return route.continue();
        missed += 1;
        return route.fulfill({ status: 404 });
      });
      await page.route(addressOf('sources'), (route) => {
        reloads += 1;
        return route.continue();
      });
      await page.getByRole('link', { name: 'Sources' }).click();
      await until('the page was reloaded', () => reloads === 1);
      if (!isReleased) await until('the file is missing again', () => missed === 2);
      await page.getByRole('heading', { name: isReleased ? 'Sources' : 'This page failed' }).waitFor();
      expect(reloads).toBe(1);
      await page.context().close();
    }
  }, 60_000);

  it(`hold ${SCROLLED.toLocaleString('en')} mentions in less than 100 MB, with a few rows in the document`, async () => {
    const { page } = await open('feed?window=90d');
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

  it(`measure the time to the first row among ${MENTIONS.toLocaleString('en')} mentions`, async () => {
    const times = [];
    for (let round = 0; round < 3; round++) {
      const { page } = await openPage(stage.browser);
      await page.context().addCookies(cookies);
      await page.addInitScript(
        `new MutationObserver(() => { if (document.querySelector('[role=article]') && !window.first) window.first = performance.now(); }).observe(document, { childList: true, subtree: true })`,
      );
      await page.goto(addressOf('feed'));
      await page.getByRole('article').first().waitFor();
      times.push((await page.evaluate('window.first')) as number);
      await page.context().close();
    }
    say(`first row of the feed after ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
    expect(times.every((ms) => ms > 0)).toBe(true);
  }, 150_000);

  it('send a delivery again, replay a window, and enable an address that was gone', async () => {
    const { simulator } = stage.stage;
    const { page } = await open('deliveries?tab=replays');
    const webhookUrl = `${simulator.url}/hooks/pages`;
    await call(page, 'PATCH', `/v1/keywords/${keywordId}`, { refreshIntervalSeconds: 1, webhookUrl });
    const received = (count: number) =>
      until(
        `${count} deliveries`,
        () => simulator.receiver.deliveries('pages').length === count,
        LONGEST_CHECK_MS,
      );
    const publish = () => simulator.world.publish('hackernews', { title: '', text: 'An umbra lamp, found.' });
    await until('the first check is over', async () => {
      const { watches } = await call(page, 'GET', `/v1/keywords/${keywordId}`);
      return watches[0].lastStatus === 'completed';
    });
    publish();
    await received(1);
    await page.getByLabel('Keyword').first().click();
    await page.getByRole('option', { name: 'Umbra Lamp' }).click();
    await page.getByLabel('From').fill('2026-01-01T00:00');
    await page.getByRole('button', { name: 'Start the replay' }).click();
    await page.getByText('1 of 1 sent').waitFor();
    await received(2);
    await page.getByRole('tab', { name: 'Deliveries' }).click();
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await received(3);
    await page.getByRole('button', { name: 'Show the attempts' }).first().click();
    expect(await findingsInBothThemes(page)).toEqual([]);
    simulator.receiver.setBehaviour('pages', { kind: 'status', status: 410 });
    publish();
    await received(4);
    await page.getByRole('tab', { name: 'Endpoints' }).click();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('The endpoint is enabled again').waitFor();
    await page.getByText('disabled', { exact: true }).waitFor({ state: 'detached' });
    await page.context().close();
  }, 150_000);

  it('change a criterion of all sources of a keyword', async () => {
    const { page } = await open('keywords/$/edit');
    await page.getByRole('button', { name: 'More criteria for all sources' }).click();
    await page.getByRole('textbox', { name: 'Sort' }).fill('new');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(addressOf('keywords/$'));
    const { globalCriteria } = await call(page, 'GET', `/v1/keywords/${keywordId}`);
    expect(globalCriteria).toMatchObject({ query: 'umbra lamp', sort: 'new' });
    await page.context().close();
  }, 60_000);

  it('create a key that works, and invite a member who signs up with the link', async () => {
    const { page } = await open('settings/keys');
    await page.getByRole('textbox', { name: 'Name' }).fill('Reports');
    await page.getByLabel('Scope').selectOption('read');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const key = await page.getByRole('textbox', { name: /Copy it now/ }).inputValue();
    const answer = await page.request.get(`${stage.url}/v1/mentions?limit=1`, {
      headers: { 'x-api-key': key },
    });
    expect(answer.status()).toBe(200);
    await page.goto(addressOf('settings/members'));
    await page.getByRole('textbox', { name: 'E-mail' }).fill('bob@example.org');
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByRole('textbox', { name: 'Link for bob@example.org' }).inputValue();
    const { page: other } = await openPage(stage.browser);
    await other.goto(stage.url + new URL(link).pathname + new URL(link).hash);
    await other.getByRole('textbox', { name: 'Password' }).fill('other words in a row');
    await other.getByRole('button', { name: 'Create the account' }).click();
    await other.getByRole('article').first().waitFor();
    await other.goto(addressOf('keywords'));
    await other.getByRole('link', { name: 'Umbra Lamp' }).waitFor();
    expect(await other.getByRole('link', { name: 'New keyword' }).count()).toBe(0);
    await page.reload();
    await page.getByLabel('Role of bob@example.org').selectOption('editor');
    await until('the member may create keywords', async () => {
      await other.reload();
      await other.getByRole('link', { name: 'Umbra Lamp' }).waitFor();
      return (await other.getByRole('link', { name: 'New keyword' }).count()) > 0;
    });
    await page.goto(addressOf('settings/audit-log'));
    await page.getByText('POST /v1/invitations').waitFor();
  }, 150_000);

  it('end another session, and change the password', async () => {
    const { page: other } = await openPage(stage.browser);
    const session = () => other.request.get(`${stage.url}/v1/auth/session`);
    const signIn = (password: string) =>
      other.request.post(`${stage.url}/v1/auth/sign-in`, { data: { email: OWNER.email, password } });
    expect((await signIn(OWNER.password)).status()).toBe(200);
    const { page } = await open('settings/security');
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await until('the other session has ended', async () => (await session()).status() === 401);
    await page.getByRole('textbox', { name: 'Present password' }).fill(OWNER.password);
    await page.getByRole('textbox', { name: 'New password' }).fill('six quite different words in a row');
    const changed = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: 'Change the password' }).click();
    expect((await changed).ok()).toBe(true);
    expect((await signIn(OWNER.password)).status()).toBe(401);
    expect((await signIn('six quite different words in a row')).status()).toBe(200);
    await Promise.all([page.context().close(), other.context().close()]);
  }, 60_000);
});

const nameOf = (path: string) => path.replaceAll('/', '-').replace('$', 'keyword');

/** The size of the scripts among these addresses, as gzip sends them. */
function gzippedBytes(paths: ReadonlySet<string>): number {
  return [...paths]
    .filter((path) => path.endsWith('.js'))
    .map((path) => fileURLToPath(new URL(`dist/apps/dashboard${path}`, checkout)))
    .reduce((sum, file) => sum + statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size, 0);
}
