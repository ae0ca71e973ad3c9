import type { Page } from 'playwright-core';
import { openClickHouse, selectRows, type ClickHouseClient } from '#clickhouse';
import { openDatabase, type Database } from '#postgres';
import { until } from '#testing';
import type { Stage } from '../scenario.js';
import { openPage } from './chromium.js';
import { hostile } from './hostile-fields.js';
import { call, openBrowserStage, signUpThroughApi, type BrowserStage } from './installation.js';

export const RECALL = { title: 'Lumora recalls its desk lamp after two fires in Denver homes' };

/**
 * A member who is signed in, and has a keyword, “Lumora”, with four mentions. `begin` starts the installation and the
 * browser, and opens both databases; `end` closes them.
 */
export class Member {
  page!: Page;
  faults!: string[];
  accountId!: string;
  clickhouse!: ClickHouseClient;
  database!: Database;
  private installation: BrowserStage | undefined;

  get stage(): Stage {
    return this.installation!.stage;
  }

  async begin(): Promise<void> {
    const installation = await openBrowserStage({ hasModel: true });
    this.installation = installation;
    this.clickhouse = await openClickHouse(this.stage.stores.clickhouseUrl, 'test');
    this.database = await openDatabase(this.stage.stores.databaseUrl, 'test', 2);
    Object.assign(this, await openPage(installation.browser, { userAgent: hostile('browser') }));
    this.publishPosts();
    this.accountId = (await signUpThroughApi(this.page, installation)).account.id;
    await call(this.page, 'POST', '/v1/keywords', {
      ...{ name: 'Lumora', refreshIntervalSeconds: 86_400, backfill: true },
      globalCriteria: { market: 'global', query: 'lumora' },
      sources: [{ source: 'hackernews', enabled: true }],
    });
    const countVectors = 'SELECT uniqExact(event_id) AS n FROM mention_vectors';
    await until(
      'the posts can be searched by meaning',
      async () => Number((await selectRows<{ n: string }>(this.clickhouse, countVectors))[0]?.n) === 4,
      90_000,
    );
  }

  private publishPosts(): void {
    const post = (text: string, more: object = {}) =>
      this.stage.simulator.world.publish('hackernews', { title: '', text, ...more });
    post('', { ...RECALL, link: 'https://news.example/lumora-recall' });
    post('', { ...RECALL, link: 'https://www.news.example/lumora-recall?utm_source=mail' });
    post('My Lumora is dark long before lunch, its battery hardly lasts the morning.');
    post('Where in Vienna is a shop that sells the Lumora?');
  }

  open(path: string) {
    return this.page.goto(`${this.installation!.url}/${path}`);
  }

  async end(): Promise<void> {
    await this.clickhouse?.close();
    await this.database?.destroy();
    await this.installation?.close();
  }
}
