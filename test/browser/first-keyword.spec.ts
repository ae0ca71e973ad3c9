import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { until } from '#testing';
import { openPage, screenshot } from './chromium.js';
import { call, openBrowserStage, OWNER, signUp, type BrowserStage } from './installation.js';

/** Fields of a post that an attacker controls, each with something that would run or mislead. */
const HOSTILE = {
  title: '<img src=x onerror="window.hit=1"> Umbra Lamp <script>window.hit=2</script>',
  text: `\u202eesrever Umbra Lamp <svg onload="window.hit=3"> ${'A'.repeat(65_000)}`,
  author: '"><img src=x onerror=window.hit=4>',
  link: 'javascript:window.hit=5',
};

const STREAM = '**/v1/stream*';
const unavailable = (route: Route) =>
  route.fulfill({ status: 503, json: { error: 'later', code: 'UNAVAILABLE' } });

describe('a stranger with a new installation', () => {
  let stage: BrowserStage;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    stage = await openBrowserStage();
    ({ page, faults } = await openPage(stage.browser));
  }, 150_000);

  afterAll(() => stage?.close());

  const post = (text: string, more: object = {}) =>
    stage.stage.simulator.world.publish('hackernews', { title: '', text, ...more });

  it('signs up with the code that the start printed', async () => {
    await page.goto(stage.url);
    await page.getByRole('heading', { name: 'Welcome to Earshot' }).waitFor();
    await screenshot(page, 'tour-1-sign-up');
    await signUp(page, stage);
    await page.getByRole('heading', { name: 'Watch a brand' }).waitFor();
  }, 150_000);

  it('names a brand, sees a preview with its price, and creates a keyword', async () => {
    for (const mood of ['I love my', 'Nothing beats the', 'Never again an'])
      post(`${mood} Umbra Lamp, honestly.`, { title: `${mood} lamp` });
    await page.getByLabel('Brand, product or topic').fill('Umbra Lamp');
    await page.getByText('UmbraLamp', { exact: true }).waitFor();
    for (const source of ['X', 'Reddit', 'YouTube', 'TikTok', 'Bluesky', 'GitHub', 'Lemmy'])
      await page.locator('label').getByText(source, { exact: true }).click();
    const feeds = page.locator('label').filter({ hasText: 'News and blogs' });
    await feeds.getByText('needs a feed').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Enter at least one feed').waitFor();
    await feeds.click();
    await screenshot(page, 'tour-2-brand');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: /^Show me, for \d+ credits$/ }).click();
    await page.locator('mark', { hasText: 'Umbra Lamp' }).first().waitFor();
    await screenshot(page, 'tour-3-preview');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('Look every').selectOption('60');
    await page.getByText('Credits a month').waitFor();
    await screenshot(page, 'tour-4-price');
    await page.getByRole('button', { name: 'Start listening' }).click();
    await page.getByText(/is live: \d+ of \d+ searches/).waitFor();
    await page.getByText(/[1-9]\d* mentions? found/).waitFor({ timeout: 60_000 });
    await screenshot(page, 'tour-5-live');
    await page.getByRole('link', { name: 'Open the feed' }).click();
    await page.getByRole('article').first().waitFor();
    expect(faults).toEqual([]);
  }, 150_000);

  it('sends a mention to a Slack channel that was set up on the page', async () => {
    await page.goto(`${stage.url}/channels`);
    await page
      .getByRole('button', { name: /Add a channel|Add the first/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Team');
    await page.getByLabel('Webhook address').fill('https://hooks.slack.com/services/T1/B1/tour');
    await page.getByRole('button', { name: 'Add the channel' }).click();
    await page.getByRole('region', { name: 'Team' }).getByRole('button', { name: 'Send a test' }).click();
    await until('the test message is in Slack', () => slackTexts().length > 0);
    await screenshot(page, 'tour-6-channel');
    await openEditor();
    await page.getByRole('button', { name: 'Send to a channel' }).click();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByText('Channels', { exact: true }).waitFor();
    await page.getByRole('dialog').getByText('Channel: Team, Mode: instant', { exact: true }).waitFor();
    await screenshot(page, 'tour-7-review');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Umbra Lamp' }).waitFor();
    expect(await page.evaluate('window.scrollY')).toBe(0);
    await setShortInterval();
    await openFeed();
    post('The Umbra Lamp of my office has a loose switch.');
    await page.getByText('of my office has a loose switch').waitFor({ timeout: 60_000 });
    await until('the message is in Slack', () => slackTexts().some((text) => text.includes('loose switch')));
    await screenshot(page, 'tour-8-feed');
  }, 180_000);

  it('shows hostile posts as text, and never makes their links clickable', async () => {
    await openFeed();
    post(HOSTILE.text, HOSTILE);
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

  it('shows the mentions of the time in which the live connection failed', async () => {
    await page.route(STREAM, unavailable);
    await page.goto(`${stage.url}/feed?window=30d`);
    await page.getByRole('article').first().waitFor();
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    post('An Umbra Lamp that came during the outage.');
    await until('the mention is found', async () => isFound(page, 'outage'), 30_000);
    expect(await page.getByText('came during the outage').count()).toBe(0);
    await page.unroute(STREAM);
    await page.getByText('came during the outage').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  }, 90_000);

  it('shows the mentions of the time between the end of the session and the new sign-in', async () => {
    await openFeed();
    post('An Umbra Lamp that came before the end.');
    await page.getByText('came before the end').waitFor();
    const { page: other } = await openPage(stage.browser);
    await other.goto(stage.url);
    await other.request.post(`${stage.url}/v1/auth/sign-in`, { data: OWNER });
    await page.route(STREAM, unavailable);
    await call(page, 'POST', '/v1/auth/sign-out');
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    for (const n of [1, 2]) post(`Umbra Lamp number ${n} after the end.`);
    await until('the mentions are found', async () => isFound(other, 'after', 2), 30_000);
    await other.context().close();
    await page.unroute(STREAM);
    await signInAgain();
    for (const n of [1, 2]) await page.getByText(`number ${n} after the end`).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.getByText('came before the end').count()).toBe(1);
    expect(faults).toEqual([]);
  }, 120_000);

  it('reads and marks mentions with the keyboard alone', async () => {
    await openFeed();
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

  it('hides a mention with a key, and shows it again', async () => {
    await openFeed();
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

  it('reads with the keyboard in a window that has no room beside the list', async () => {
    await page.setViewportSize({ width: 800, height: 860 });
    await openFeed();
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

  it('corrects a reading and sees why a mention matched', async () => {
    await openFeed();
    await page.keyboard.press('j');
    const detail = page.getByRole('region', { name: 'Mention', exact: true });
    await detail.getByText(/in the text/).waitFor();
    const corrected = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await detail.getByLabel('Sentiment').selectOption('mixed');
    expect((await (await corrected).json()) as object).toMatchObject({ corrected: ['sentiment'] });
    await detail.getByText('corrected by a person').waitFor();
  }, 150_000);

  it('shows what was read of each source, and each delivery with its response', async () => {
    const { id } = await keyword();
    await page.goto(`${stage.url}/keywords/${id}/coverage`);
    await page
      .getByRole('img', { name: /of the time covered/ })
      .first()
      .waitFor();
    await page
      .getByRole('region', { name: 'Activity', exact: true })
      .getByText('Poll completed')
      .first()
      .waitFor();
    await page.goto(`${stage.url}/deliveries?state=delivered`);
    await page.getByRole('button', { name: 'Show the attempts' }).first().click();
    await page
      .getByText(/Attempt 1, .*: delivered, status 200/)
      .first()
      .waitFor();
    await page.getByText('"type": "hn_item.created"').first().waitFor();
    await page.getByText('The event; Slack gets a message made of it').waitFor();
    expect(await page.getByText('Request body (POST').count()).toBe(0);
    const delivery = page.getByRole('row').filter({ hasText: 'Slack, Channel' });
    await delivery.first().getByText('Team', { exact: true }).waitFor();
    expect(await page.getByText('channel:').count()).toBe(0);
  }, 150_000);

  it('finds the event of a delivery without a keyword, whose first attempt was an hour late', async () => {
    const deliveries = '**/v1/deliveries?*';
    const late = new Date(Date.now() + 3_600_000).toISOString();
    await page.route(deliveries, async (route) => {
      const response = await route.fetch();
      const { data, ...rest } = (await response.json()) as { data: { attempts: object[] }[] };
      const changed = data.map((one) => ({
        ...{ ...one, keywordId: null },
        attempts: one.attempts.map((attempt) => ({ ...attempt, at: late })),
      }));
      await route.fulfill({ response, json: { ...rest, data: changed } });
    });
    await page.goto(`${stage.url}/deliveries?state=delivered`);
    await page.getByRole('button', { name: 'Show the attempts' }).first().click();
    await page.getByText('"type": "hn_item.created"').waitFor();
    await page.unroute(deliveries);
  }, 60_000);

  it('shows the newest eight of many gaps, how many more there are, and all of them on demand', async () => {
    const { id } = await keyword();
    const coverage = '**/coverage?*';
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    await page.route(coverage, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { data: { windows: object[] }[] };
      const windows = Array.from({ length: 20 }, (_, index) => ({
        ...{ from: at(20 - index), to: at(19 - index), status: 'gap', reason: `gap ${index + 1}` },
      }));
      await route.fulfill({
        response,
        json: { ...answer, data: answer.data.slice(0, 1).map((one) => ({ ...one, windows })) },
      });
    });
    await page.goto(`${stage.url}/keywords/${id}/coverage`);
    await page.getByText('20 remarks').click();
    const reasons = page.getByRole('table', { name: /^Gaps and failures on/ }).getByText(/^gap \d+$/);
    await page.getByText('and 12 more').waitFor();
    expect(await reasons.allInnerTexts()).toEqual([20, 19, 18, 17, 16, 15, 14, 13].map((n) => `gap ${n}`));
    await page.getByRole('button', { name: 'Show all' }).click();
    await reasons.nth(19).waitFor();
    expect(await page.getByText(/^and \d+ more$/).count()).toBe(0);
    await page.unroute(coverage);
  }, 60_000);

  it('builds a rule, sees in a backtest how often it would have fired, and saves it', async () => {
    const { id } = await keyword();
    await page.goto(`${stage.url}/keywords/${id}/rules`);
    await page.getByRole('button', { name: 'Add a rule' }).first().click();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('Give the rule a name').waitFor();
    await page.getByText('Enter a value').waitFor();
    expect(await page.getByText(/rules\[/).count()).toBe(0);
    await page.getByRole('textbox', { name: 'Rule 1' }).fill('Broken lamps');
    await page.getByText('Give the rule a name').waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Clause 1: value' }).fill('loose switch');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    const fired = page.getByRole('table', { name: 'How often each rule would have fired' });
    await fired.getByRole('row', { name: /Broken lamps 1 1/ }).waitFor();
    await page
      .getByRole('table', { name: 'Mentions of the backtest' })
      .getByText('Broken lamps')
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('The rules were saved').waitFor();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Clause 1: value' }).inputValue()).toBe('loose switch');
    expect(await page.getByRole('button', { name: 'Save the rules' }).isDisabled()).toBe(true);
  }, 150_000);

  it('asks sources once after the price, and keeps the question as a keyword', async () => {
    await page.goto(`${stage.url}/explore`);
    await page.getByRole('textbox', { name: 'Words to search for' }).fill('Umbra Lamp');
    await page.getByRole('button', { name: 'Show the price' }).click();
    await page.getByRole('button', { name: /^Ask now for \d+ credits$/ }).click();
    await page.getByRole('link', { name: 'Keep as a keyword' }).click();
    await page.waitForURL('**/keywords/new?**');
    expect(await page.getByRole('textbox', { name: 'Name' }).first().inputValue()).toBe('Umbra Lamp');
  }, 150_000);

  it('sees every credit, and that the ledger adds up', async () => {
    await page.goto(`${stage.url}/credits`);
    await page.getByText('The ledger adds up').waitFor();
    await page.getByRole('table', { name: 'Movements of credits' }).getByText('Check').first().waitFor();
    await page
      .getByRole('table', { name: 'Credits by source', exact: true })
      .getByText('Hacker News')
      .waitFor();
    expect(faults).toEqual([]);
  }, 150_000);

  it('exports what the filters show, and keeps the filters as a view', async () => {
    await page.goto(`${stage.url}/feed?q=switch&window=30d`);
    await page.getByRole('article').first().waitFor();
    const shown = await page.getByRole('article').count();
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
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save these filters' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Switches');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await openFeed();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Switches' }).click();
    await page.waitForURL(/q=switch/);
    expect(faults).toEqual([]);
  }, 60_000);

  it('asks for the password when the session ends, and keeps what was typed', async () => {
    await openEditor();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('Umbra Lamp of the evening');
    await page.context().clearCookies();
    await page.getByRole('textbox', { name: 'And all of this (optional)' }).fill('lamp');
    await signInAgain();
    expect(await page.getByRole('textbox', { name: 'Name' }).first().inputValue()).toBe(
      'Umbra Lamp of the evening',
    );
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByText('These searches start over').waitFor();
  }, 150_000);

  it('comes back to the same address after a sign-in', async () => {
    await page.context().clearCookies();
    await page.goto(`${stage.url}/feed?q=switch&window=30d`);
    await page.getByLabel('E-mail').fill(OWNER.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/feed?q=switch&window=30d');
    await page.getByRole('article').first().waitFor();
  }, 150_000);

  const isFound = async (of: Page, word: string, times = 1) =>
    (await call(of, 'GET', `/v1/mentions?q=${word}`)).data.length === times;

  async function signInAgain(): Promise<void> {
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByRole('textbox').fill(OWNER.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  const slackTexts = () => stage.stage.simulator.inbox.messages('slack').map(({ text }) => text);

  async function keyword(): Promise<{ id: string; sources: { source: string }[] }> {
    return (await call(page, 'GET', '/v1/keywords')).data[0];
  }

  const openFeed = async () => {
    await page.goto(`${stage.url}/feed?window=30d`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('article').first().waitFor();
  };

  async function openEditor(): Promise<void> {
    await page.goto(`${stage.url}/keywords/${(await keyword()).id}/edit`);
    await page.getByRole('button', { name: 'Review and save' }).waitFor();
    await page.getByRole('region', { name: 'Price' }).getByText('credits a month').waitFor();
  }

  /** A minute would be long for a test. */
  async function setShortInterval(): Promise<void> {
    await call(page, 'PATCH', `/v1/keywords/${(await keyword()).id}`, { refreshIntervalSeconds: 1 });
  }
});
