import type { Page } from 'playwright-core';
import { openPage } from './chromium.js';
import { call, openBrowserStage, OWNER, type BrowserStage } from './installation.js';

/** A person with a browser and a new installation, who becomes the first member at sign-up. */
export class FirstMember {
  page!: Page;
  faults!: string[];
  installation!: BrowserStage;

  get url(): string {
    return this.installation.url;
  }

  async begin(): Promise<void> {
    this.installation = await openBrowserStage();
    Object.assign(this, await openPage(this.installation.browser));
  }

  async end(): Promise<void> {
    await this.installation?.close();
  }

  /** Publishes a post on Hacker News. */
  post(text: string, more: object = {}): void {
    this.installation.stage.simulator.world.publish('hackernews', { title: '', text, ...more });
  }

  slackTexts(): string[] {
    return this.installation.stage.simulator.inbox.messages('slack').map(({ text }) => text);
  }

  async keyword(): Promise<{ id: string; sources: { source: string }[] }> {
    return (await call(this.page, 'GET', '/v1/keywords')).data[0];
  }

  /** Shortens the interval, because a minute is too long for a test. */
  async setShortInterval(): Promise<void> {
    const { id } = await this.keyword();
    await call(this.page, 'PATCH', `/v1/keywords/${id}`, { refreshIntervalSeconds: 1 });
  }

  async openFeed(): Promise<void> {
    await this.page.goto(`${this.url}/feed?window=30d`);
    await this.page.getByText('Live', { exact: true }).waitFor();
    await this.page.getByRole('article').first().waitFor();
  }

  async openEditor(): Promise<void> {
    await this.page.goto(`${this.url}/keywords/${(await this.keyword()).id}/edit`);
    await this.page.getByRole('button', { name: 'Review and save' }).waitFor();
    await this.page.getByRole('region', { name: 'Price' }).getByText('credits a month').waitFor();
  }

  /** Signs in with the dialog that the page shows after the end of the session. */
  async signInAgain(): Promise<void> {
    const dialog = this.page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByRole('textbox').fill(OWNER.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
  }
}
