import { until } from '#testing';
import { findingsInBothThemes, openPage } from './chromium.js';
import type { Dashboard } from './dashboard.js';
import { call, OWNER } from './installation.js';

const MAX_CHECK_MS = 60_000;

/** Tests: the owner sends events again, changes a keyword, invites members, and changes the password. */
export function ownerTasks(dashboard: Dashboard): void {
  it('let the owner send a delivery again, replay a period, and enable a disabled address', async () => {
    const { simulator } = dashboard.installation.stage;
    const { page } = await dashboard.open('deliveries?tab=replays');
    const webhookUrl = `${simulator.url}/hooks/pages`;
    await call(page, 'PATCH', `/v1/keywords/${dashboard.keywordId}`, {
      refreshIntervalSeconds: 1,
      webhookUrl,
    });
    const received = (count: number) =>
      until(
        `${count} deliveries`,
        () => simulator.receiver.deliveries('pages').length === count,
        MAX_CHECK_MS,
      );
    const publish = () => simulator.world.publish('hackernews', { title: '', text: 'An umbra lamp, found.' });
    await until('the first check is over', async () => {
      const { watches } = await call(page, 'GET', `/v1/keywords/${dashboard.keywordId}`);
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

  it('let the owner change a criterion of all sources of a keyword', async () => {
    const { page } = await dashboard.open('keywords/$/edit');
    await page.getByRole('button', { name: 'More criteria for all sources' }).click();
    await page.getByRole('textbox', { name: 'Sort' }).fill('new');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(dashboard.addressOf('keywords/$'));
    const { globalCriteria } = await call(page, 'GET', `/v1/keywords/${dashboard.keywordId}`);
    expect(globalCriteria).toMatchObject({ query: 'umbra lamp', sort: 'new' });
    await page.context().close();
  }, 60_000);

  it('let the owner create a key that the API accepts, and invite a member who signs up with the link', async () => {
    const { page } = await dashboard.open('settings/keys');
    await page.getByRole('textbox', { name: 'Name' }).fill('Reports');
    await page.getByLabel('Scope').selectOption('read');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const key = await page.getByRole('textbox', { name: /Copy it now/ }).inputValue();
    const answer = await page.request.get(`${dashboard.installation.url}/v1/mentions?limit=1`, {
      headers: { 'x-api-key': key },
    });
    expect(answer.status()).toBe(200);
    await page.goto(dashboard.addressOf('settings/members'));
    await page.getByRole('textbox', { name: 'Email' }).fill('bob@example.org');
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByRole('textbox', { name: 'Link for bob@example.org' }).inputValue();
    const { page: other } = await openPage(dashboard.installation.browser);
    await other.goto(dashboard.installation.url + new URL(link).pathname + new URL(link).hash);
    await other.getByRole('textbox', { name: 'Password' }).fill('other words in a row');
    await other.getByRole('button', { name: 'Create the account' }).click();
    await other.getByRole('article').first().waitFor();
    await other.goto(dashboard.addressOf('keywords'));
    await other.getByRole('link', { name: 'Umbra Lamp' }).waitFor();
    expect(await other.getByRole('link', { name: 'New keyword' }).count()).toBe(0);
    await page.reload();
    await page.getByLabel('Role of bob@example.org').selectOption('editor');
    await until('the member can create keywords', async () => {
      await other.reload();
      await other.getByRole('link', { name: 'Umbra Lamp' }).waitFor();
      return (await other.getByRole('link', { name: 'New keyword' }).count()) > 0;
    });
    await page.goto(dashboard.addressOf('settings/audit-log'));
    await page.getByText('POST /v1/invitations').waitFor();
  }, 150_000);

  it('let the owner end another session, and change the password', async () => {
    const { page: other } = await openPage(dashboard.installation.browser);
    const session = () => other.request.get(`${dashboard.installation.url}/v1/auth/session`);
    const signIn = (password: string) =>
      other.request.post(`${dashboard.installation.url}/v1/auth/sign-in`, {
        data: { email: OWNER.email, password },
      });
    expect((await signIn(OWNER.password)).status()).toBe(200);
    const { page } = await dashboard.open('settings/security');
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await until('the other session has ended', async () => (await session()).status() === 401);
    await page.getByRole('textbox', { name: 'Present password' }).fill('not this password');
    await page.getByRole('textbox', { name: 'New password' }).fill('six quite different words in a row');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('is wrong', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Present password' }).fill(OWNER.password);
    const changed = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: 'Change the password' }).click();
    expect((await changed).ok()).toBe(true);
    expect((await signIn(OWNER.password)).status()).toBe(401);
    expect((await signIn('six quite different words in a row')).status()).toBe(200);
    await Promise.all([page.context().close(), other.context().close()]);
  }, 60_000);
}
