import type { Page } from 'playwright-core';
import { until, type Json } from '#testing';
import { findingsInBothThemes } from './chromium.js';
import { call } from './installation.js';
import type { Member } from './member.js';

/** Tests: a member sets up channels and the signing secret. */
export function channelTasks(member: Member): void {
  it('rotates the signing secret, and sees until when the previous secret is still used', async () => {
    const { page } = member;
    const before = (await call(page, 'GET', '/v1/signing-secret')).signingSecret as string;
    await member.open('settings/webhooks');
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const field = page.getByRole('textbox', { name: 'Secret' });
    const after = await field.inputValue();
    expect([after.length, after === before]).toEqual([before.length, false]);
    const until24h = page
      .getByText(/^Until .*, deliveries are also signed with the previous secret/)
      .locator('time');
    const hours = (Date.parse((await until24h.getAttribute('datetime')) ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    await page.reload();
    await page.getByRole('button', { name: 'Show the secret' }).waitFor();
    expect(await field.count()).toBe(0);
  }, 90_000);

  it('adds a Discord channel and sends a test message to it', async () => {
    const { stage, page } = member;
    await member.open('channels');
    await addChannel(page, 'Discord', 'Lamp room', async (dialog) => {
      await dialog.getByLabel('Webhook address').fill('https://discord.com/api/webhooks/1/token');
    });
    const card = page.getByRole('region', { name: 'Lamp room' });
    await card.getByRole('button', { name: 'Send a test' }).click();
    await card.getByText('The message arrived').waitFor();
    expect(stage.simulator.inbox.messages('discord')).toHaveLength(1);
  }, 90_000);

  it('renames a channel, and keeps the address that another member has changed meanwhile', async () => {
    const { page } = member;
    await member.open('channels');
    const card = page.getByRole('region', { name: 'Lamp room' });
    const channels = (await call(page, 'GET', '/v1/channels')).data as Json[];
    const { id } = channels.find(({ name }) => name === 'Lamp room') as Json;
    await card.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change Lamp room' });
    await dialog.waitFor();
    const webhookUrl = 'https://discord.com/api/webhooks/1/other';
    const { config } = await call(page, 'PATCH', `/v1/channels/${id}`, { config: { webhookUrl } });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Lamp rooms');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Lamp rooms' }).waitFor();
    expect(await call(page, 'GET', `/v1/channels/${id}`)).toMatchObject({ name: 'Lamp rooms', config });
    await call(page, 'PATCH', `/v1/channels/${id}`, { name: 'Lamp room' });
  }, 90_000);

  it.each([
    [
      'Microsoft Teams',
      'teams',
      { 'Webhook address': 'https://x.logic.azure.com/workflows/1/triggers/manual/paths/invoke?sig=s' },
    ],
    ['Telegram', 'telegram', { 'Bot token': '123456:ABC-DEF', 'Chat id': '-1001234567890' }],
  ] as const)(
    'adds a channel of %s and sends a test message to it',
    async (kind, inbox, values) => {
      const { stage, page } = member;
      await member.open('channels');
      await addChannel(page, kind, `${kind} room`, async (dialog) => {
        for (const [label, value] of Object.entries(values)) await dialog.getByLabel(label).fill(value);
      });
      const card = page.getByRole('region', { name: `${kind} room` });
      await card.getByRole('button', { name: 'Send a test' }).click();
      await card.getByText('The message arrived').waitFor();
      expect(stage.simulator.inbox.messages(inbox)).toHaveLength(1);
    },
    90_000,
  );

  it('adds an email channel, which becomes active when the link in the mail confirms the address', async () => {
    const { stage, page } = member;
    await member.open('channels');
    await addChannel(page, 'Email', 'Letters', async (dialog) => {
      await dialog.getByLabel('Addresses').fill('bob@example.org');
      await page.keyboard.press('Enter');
    });
    const card = page.getByRole('region', { name: 'Letters' });
    await card.getByText('bob@example.org: unverified').waitFor();
    const inbox = stage.simulator.inbox;
    const mail = await until('the mail is there', () => inbox.messages('smtp', 'bob@example.org')[0]);
    const link = new URL(/https?:\S+\/channels\/verify\S+/.exec(mail.text)?.[0] ?? '');
    await member.open(`${link.pathname.slice(1)}${link.search}`);
    await page.getByRole('button').click();
    await member.open('channels');
    await card.getByText('bob@example.org: verified').waitFor();
    await card.getByText('Active', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Send a test' }).click();
    await card.getByText('The message arrived').waitFor();
  }, 90_000);

  it('adds a daily digest to a keyword, and removes it again', async () => {
    const { page } = member;
    await member.open('digests');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Lumora' }) });
    await row.getByRole('combobox', { name: 'Channel for Lumora' }).click();
    await page.getByRole('option', { name: 'Lamp room' }).click();
    await row.getByRole('button', { name: 'Add' }).click();
    await row.getByText('Lamp room: Daily, every day at 09:00').waitFor();
    expect(await findingsInBothThemes(page)).toEqual([]);
    const planned = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0];
    expect(planned.channels).toMatchObject([{ mode: 'daily' }]);
    await row.getByRole('button', { name: 'Remove Daily to Lamp room' }).click();
    await row.getByText('No channel').waitFor();
  }, 90_000);
}

async function addChannel(
  page: Page,
  kind: string,
  name: string,
  fill: (dialog: ReturnType<Page['getByRole']>) => Promise<void>,
): Promise<void> {
  await page.getByRole('button', { name: 'Add a channel' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add a channel' });
  await dialog.getByRole('combobox', { name: 'Kind' }).click();
  await page.getByRole('option', { name: kind }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await fill(dialog);
  await dialog.getByRole('button', { name: 'Add the channel' }).click();
  await dialog.waitFor({ state: 'detached' });
}
