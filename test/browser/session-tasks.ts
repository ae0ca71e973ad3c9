import { OWNER } from './installation.js';
import type { FirstMember } from './first-member.js';

/** Tests of the end of a session. */
export function sessionTasks(firstMember: FirstMember): void {
  it('must enter the password again when the session has ended, and the typed text stays in the editor', async () => {
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

  it('sees the requested page after the sign-in', async () => {
    const { page } = firstMember;
    await page.context().clearCookies();
    await page.goto(`${firstMember.url}/feed?q=switch&window=30d`);
    await page.getByLabel('E-mail').fill(OWNER.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/feed?q=switch&window=30d');
    await page.getByRole('article').first().waitFor();
  }, 150_000);
}
