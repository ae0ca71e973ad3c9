import { until } from '#testing';
import { openPage } from './chromium.js';
import { call, OWNER } from './installation.js';
import type { FirstMember } from './first-member.js';

/** A second member of the account. */
const BOB = { email: 'bob@example.org', password: 'other words in a row' };

/** Tests of sessions: their end, other tabs, the sign-out, and pages without a network. */
export function sessionTasks(firstMember: FirstMember): void {
  it('must enter the password when the session has ended, and keeps the typed text in the editor', async () => {
    const { page } = firstMember;
    await firstMember.openEditor();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('Umbra Lamp of the evening');
    await page.context().clearCookies();
    await page.getByRole('textbox', { name: 'And all of this (optional)' }).fill('lamp');
    await firstMember.signInAgain();
    expect(await page.getByRole('textbox', { name: 'Name' }).first().inputValue()).toBe(
      'Umbra Lamp of the evening',
    );
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByText('These searches start over').waitFor();
  }, 150_000);

  it('continues without the password after a new sign-in in another tab', async () => {
    const { page, url } = firstMember;
    await firstMember.openFeed();
    await page.context().clearCookies();
    const focusEvent = `window.dispatchEvent(new Event('focus'))`;
    await page.evaluate(focusEvent);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await page.request.post(`${url}/v1/auth/sign-in`, { data: OWNER });
    await page.evaluate(focusEvent);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Live', { exact: true }).waitFor();
  }, 60_000);

  it('saves an open form after a new sign-in in another tab', async () => {
    const { page, url } = firstMember;
    await firstMember.openEditor();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('Umbra Lamp of the morning');
    await page.request.post(`${url}/v1/auth/sign-in`, { data: OWNER });
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Umbra Lamp of the morning' }).waitFor();
  }, 60_000);

  it('sees no data of another member who has signed in in another tab, and must enter their own password', async () => {
    const { page, url } = firstMember;
    await firstMember.openFeed();
    const { code } = await call(page, 'POST', '/v1/invitations', { email: BOB.email, role: 'editor' });
    await page.request.post(`${url}/v1/auth/sign-up`, { data: { ...BOB, code } });
    await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByText('This browser is now signed in as bob@example.org').waitFor();
    await dialog.getByRole('link', { name: 'Continue as bob@example.org' }).waitFor();
    await firstMember.signInAgain();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.request.post(`${url}/v1/auth/sign-in`, { data: BOB });
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await dialog.getByText('This browser is now signed in as bob@example.org').waitFor();
    await firstMember.signInAgain();
  }, 60_000);

  it('sees no data of another member when a visible page reads its data again', async () => {
    const { page, url } = firstMember;
    await page.clock.install();
    await page.goto(`${url}/channels`);
    await page.getByRole('heading', { name: 'Team' }).waitFor();
    await page.request.post(`${url}/v1/auth/sign-in`, { data: BOB });
    const answers: string[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/v1/channels')) answers.push(String(answer.status()));
    });
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    // The page reads its channels again every 15 s, also while the dialog is open.
    await page.clock.runFor(15_000);
    await dialog.getByText('This browser is now signed in as bob@example.org').waitFor();
    await page.clock.runFor(15_000);
    await until('the page has read the channels again', () => answers.length >= 2);
    expect(new Set(answers)).toEqual(new Set(['401']));
    await firstMember.signInAgain();
    await page.getByRole('heading', { name: 'Team' }).waitFor();
  }, 60_000);

  it('must enter the password if the session has ended before an export', async () => {
    const { page } = firstMember;
    await firstMember.openFeed();
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export mentions' });
    await dialog.getByText(/^\d+ mentions? that the filters/).waitFor();
    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Export' }).click();
    await firstMember.signInAgain();
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export' }).click();
    await download;
  }, 60_000);

  it('sees the buttons of the new role if an owner has changed the role while the page is open', async () => {
    const { page: ownersPage, url, installation } = firstMember;
    const { page } = await openPage(installation.browser);
    await page.request.post(`${url}/v1/auth/sign-in`, { data: BOB });
    await page.goto(`${url}/keywords`);
    const newKeyword = page.getByRole('link', { name: 'New keyword' });
    await newKeyword.waitFor();
    const { data } = await call(ownersPage, 'GET', '/v1/members');
    const bob = data.find(({ email }: { email: string }) => email === BOB.email);
    await call(ownersPage, 'PATCH', `/v1/members/${bob.id}`, { role: 'viewer' });
    await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
    await newKeyword.waitFor({ state: 'detached' });
    await page.context().close();
  }, 60_000);

  it('stays on the page, and reads the reason, if the sign-out fails', async () => {
    const { page, url } = firstMember;
    const signOut = '**/v1/auth/sign-out';
    await page.route(signOut, (route) =>
      route.fulfill({ status: 503, json: { error: 'later', code: 'UNAVAILABLE' } }),
    );
    await page.goto(`${url}/keywords`);
    await page.getByRole('button', { name: OWNER.email }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('alert').filter({ hasText: 'The sign-out failed' }).waitFor();
    expect(page.url()).toBe(`${url}/keywords`);
    await page.unroute(signOut);
  }, 60_000);

  it('keeps the page and the typed text if the code of the account menu cannot be loaded', async () => {
    const { page, url } = firstMember;
    const code = /assets\/(account-menu|shortcut-list)-/;
    await page.goto(`${url}/keywords/new`);
    const name = page.getByRole('textbox', { name: 'Name' }).first();
    await name.fill('A typed name');
    await page.route(code, (route) => route.abort());
    await page.context().setOffline(true);
    const failure = page.getByRole('alert').filter({ hasText: 'This cannot be opened' });
    await page.getByRole('button', { name: OWNER.email }).click();
    await failure.getByRole('button').click();
    await failure.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await failure.waitFor();
    expect(await name.inputValue()).toBe('A typed name');
    await page.context().setOffline(false);
    await page.unroute(code);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  }, 60_000);

  it('must sign in when the browser shows a page from its back/forward cache after the session has ended', async () => {
    const { page, url } = firstMember;
    await page.goto(`${url}/settings/webhooks`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.context().clearCookies();
    // The test browser has no back/forward cache, so the test sends the event that a page from this cache gets.
    await page.evaluate(`window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill(OWNER.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
  }, 60_000);

  it('sees the requested page after the sign-in', async () => {
    const { page } = firstMember;
    await page.context().clearCookies();
    await page.goto(`${firstMember.url}/feed?q=switch&window=30d`);
    await page.getByLabel('Email').fill(OWNER.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/feed?q=switch&window=30d');
    await page.getByRole('article').first().waitFor();
  }, 150_000);
}
