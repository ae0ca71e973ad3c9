import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { checkout, until } from '#testing';
import { openPage, type BrowserPage } from './chromium.js';
import { call, openBrowserStage, signUpThroughApi, type BrowserStage } from './installation.js';
import { writeMentions } from './many-mentions.js';

/** The dashboard of an account with one keyword, “Umbra Lamp”, which has many mentions. */
export class Dashboard {
  installation!: BrowserStage;
  keywordId!: string;
  private clickhouse: ClickHouseClient | undefined;
  private cookies!: Awaited<ReturnType<BrowserContext['cookies']>>;

  /** Starts the installation, signs up, creates the keyword, and writes this number of mentions. */
  async begin(mentions: number): Promise<void> {
    this.installation = await openBrowserStage();
    this.clickhouse = await openClickHouse(this.installation.stage.stores.clickhouseUrl, 'test');
    const { page } = await openPage(this.installation.browser);
    const { account } = await signUpThroughApi(page, this.installation);
    this.cookies = await page.context().cookies();
    const { id } = await call(page, 'POST', '/v1/keywords', {
      name: 'Umbra Lamp',
      refreshIntervalSeconds: 60,
      globalCriteria: { market: 'global', query: 'umbra lamp' },
      sources: [{ source: 'hackernews', enabled: true }],
    });
    this.keywordId = id;
    await writeMentions(this.clickhouse, account.id, id, mentions);
    await page.context().close();
  }

  async end(): Promise<void> {
    await this.clickhouse?.close();
    await this.installation?.close();
  }

  /** @param path can contain `$` in place of the keyword's id */
  addressOf(path: string): string {
    return `${this.installation.url}/${path.replace('$', this.keywordId)}`;
  }

  /** Opens a page with the session of the owner, in a browser context with an empty cache. */
  async open(path: string): Promise<BrowserPage> {
    const opened = await this.newPage();
    await opened.page.goto(this.addressOf(path));
    return opened;
  }

  /** Opens an empty page with the session of the owner. */
  async newPage(): Promise<BrowserPage> {
    const opened = await openPage(this.installation.browser);
    await opened.page.context().addCookies(this.cookies);
    return opened;
  }

  /**
   * Goes to a page.
   * @returns the total size in bytes of the JavaScript files that the page needs, as they are sent (compressed if possible)
   */
  async visit(page: Page, path: string): Promise<number> {
    const scripts = new Set<string>();
    const note = (request: Request) => scripts.add(new URL(request.url()).pathname);
    page.on('request', note);
    await page.goto(this.addressOf(path));
    await settled(page);
    page.off('request', note);
    return gzippedBytes(scripts);
  }
}

/** Waits until the page shows its data instead of skeletons (grey placeholders). */
const settled = (page: Page) =>
  until('the page is loaded', async () => {
    // Before the page is drawn, it has no skeletons either. So the heading is checked first.
    if ((await page.locator('h1').count()) !== 1) return false;
    return (await page.locator('[aria-busy="true"], [aria-label="Loading the page"]').count()) === 0;
  });

function gzippedBytes(paths: ReadonlySet<string>): number {
  return [...paths]
    .filter((path) => path.endsWith('.js'))
    .map((path) => fileURLToPath(new URL(`dist/apps/dashboard${path}`, checkout)))
    .reduce((sum, file) => sum + statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size, 0);
}
