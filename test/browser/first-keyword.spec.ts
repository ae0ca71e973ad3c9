import { until } from '#testing';
import { screenshot } from './chromium.js';
import { feedTasks } from './feed-tasks.js';
import { signUp } from './installation.js';
import { liveFeedTasks } from './live-feed-tasks.js';
import { sessionTasks } from './session-tasks.js';
import { FirstMember } from './first-member.js';
import { workTasks } from './work-tasks.js';

describe('the first member of a new installation', () => {
  const firstMember = new FirstMember();

  beforeAll(() => firstMember.begin(), 150_000);
  afterAll(() => firstMember.end());

  it('signs up with the code that Earshot printed when it started', async () => {
    const { page } = firstMember;
    await page.goto(firstMember.url);
    await page.getByRole('heading', { name: 'Welcome to Earshot' }).waitFor();
    await screenshot(page, 'tour-1-sign-up');
    await signUp(page, firstMember.installation);
    await page.getByRole('heading', { name: 'Watch a brand' }).waitFor();
  }, 150_000);

  it('names a brand, sees a preview with its price, and creates a keyword', async () => {
    const { page, faults } = firstMember;
    for (const mood of ['I love my', 'Nothing beats the', 'Never again an'])
      firstMember.post(`${mood} Umbra Lamp, honestly.`, { title: `${mood} lamp` });
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
    const { page } = firstMember;
    await page.goto(`${firstMember.url}/channels`);
    await page
      .getByRole('button', { name: /Add a channel|Add the first/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Team');
    await page.getByLabel('Webhook address').fill('https://hooks.slack.com/services/T1/B1/tour');
    await page.getByRole('button', { name: 'Add the channel' }).click();
    await page.getByRole('region', { name: 'Team' }).getByRole('button', { name: 'Send a test' }).click();
    await until('the test message is in Slack', () => firstMember.slackTexts().length > 0);
    await screenshot(page, 'tour-6-channel');
    await firstMember.openEditor();
    await page.getByRole('button', { name: 'Send to a channel' }).click();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByText('Channels', { exact: true }).waitFor();
    await page.getByRole('dialog').getByText('Channel: Team, Mode: instant', { exact: true }).waitFor();
    await screenshot(page, 'tour-7-review');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Umbra Lamp' }).waitFor();
    expect(await page.evaluate('window.scrollY')).toBe(0);
    await firstMember.setShortInterval();
    await firstMember.openFeed();
    firstMember.post('The Umbra Lamp of my office has a loose switch.');
    await page.getByText('of my office has a loose switch').waitFor({ timeout: 60_000 });
    await until('the message is in Slack', () =>
      firstMember.slackTexts().some((text) => text.includes('loose switch')),
    );
    await screenshot(page, 'tour-8-feed');
  }, 180_000);

  liveFeedTasks(firstMember);
  feedTasks(firstMember);
  workTasks(firstMember);
  sessionTasks(firstMember);
});
