import type { Route } from 'playwright-core';
import type { FirstMember } from './first-member.js';
import { call } from './installation.js';

/** Tests: the new member sees checks and deliveries, and builds rules. */
export function workTasks(firstMember: FirstMember): void {
  it('sees the coverage of each source, and each delivery with its response', async () => {
    const { page } = firstMember;
    const { id } = await firstMember.keyword();
    await page.goto(`${firstMember.url}/keywords/${id}/coverage`);
    await page
      .getByRole('img', { name: /of the time covered/ })
      .first()
      .waitFor();
    await page
      .getByRole('region', { name: 'Activity', exact: true })
      .getByText('Poll completed')
      .first()
      .waitFor();
    await page.goto(`${firstMember.url}/deliveries?state=delivered`);
    await page.getByRole('button', { name: 'Show the attempts' }).first().click();
    await page
      .getByText(/Attempt 1, .*: delivered, status 200/)
      .first()
      .waitFor();
    await page.getByText('"type": "hn_item.created"').first().waitFor();
    await page.getByText('The event, which Slack gets as a formatted message').waitFor();
    expect(await page.getByText('Request body (POST').count()).toBe(0);
    const delivery = page.getByRole('row').filter({ hasText: 'Slack, Channel' });
    await delivery.first().getByText('Team', { exact: true }).waitFor();
    expect(await page.getByText('channel:').count()).toBe(0);
    // The API would send the event to the webhook of the keyword, and not to the channel.
    expect(await delivery.getByRole('button', { name: 'Send again' }).count()).toBe(0);
  }, 150_000);

  it('sees the event of a delivery without a keyword, although the first attempt came an hour after the event', async () => {
    const { page } = firstMember;
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
    await page.goto(`${firstMember.url}/deliveries?state=delivered`);
    await page.getByRole('button', { name: 'Show the attempts' }).first().click();
    await page.getByText('"type": "hn_item.created"').waitFor();
    await page.unroute(deliveries);
  }, 60_000);

  it('sees the newest eight of many gaps, the number of further gaps, and all of them on demand', async () => {
    const { page } = firstMember;
    const { id } = await firstMember.keyword();
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
    await page.goto(`${firstMember.url}/keywords/${id}/coverage`);
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
    const { page } = firstMember;
    const { id } = await firstMember.keyword();
    await page.goto(`${firstMember.url}/keywords/${id}/rules`);
    await page.getByRole('button', { name: 'Add a rule' }).first().click();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('Give the rule a name').waitFor();
    await page.getByText('Enter a value').waitFor();
    expect(await page.getByText(/rules\[/).count()).toBe(0);
    await page.getByRole('textbox', { name: 'Rule 1' }).fill('Broken lamps');
    await page.getByText('Give the rule a name').waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Clause 1: value' }).fill('loose switch');
    const items = '**/backtest/*/items?*';
    await page.route(items, withEmptyPages);
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    const fired = page.getByRole('table', { name: 'How often each rule would have fired' });
    await fired.getByRole('row', { name: /Broken lamps 1 1/ }).waitFor();
    const tested = page.getByRole('table', { name: 'Mentions of the backtest' });
    await tested.getByText('Broken lamps').first().waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await tested.getByText('A rare mention').waitFor();
    await page.unroute(items);
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('The rules were saved').waitFor();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Clause 1: value' }).inputValue()).toBe('loose switch');
    expect(await page.getByRole('button', { name: 'Save the rules' }).isDisabled()).toBe(true);
  }, 150_000);

  it('keeps the typed rules when a colleague changes the keyword, and replaces the rules of the colleague only on demand', async () => {
    const { page } = firstMember;
    const { id } = await firstMember.keyword();
    const path = `/v1/keywords/${id}`;
    await page.goto(`${firstMember.url}/keywords/${id}/rules`);
    const name = page.getByRole('textbox', { name: 'Rule 1' });
    await name.fill('Dark lamps');
    await call(page, 'POST', `${path}/pause`);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    const read = page.waitForResponse((answer) => answer.url().endsWith(path) && answer.ok());
    await firstMember.signInAgain();
    await read;
    await call(page, 'POST', `${path}/resume`);
    const { rules } = await call(page, 'GET', path);
    expect(await name.inputValue()).toBe('Dark lamps');
    await call(page, 'PATCH', path, { rules: [{ ...rules[0], name: 'Rule of a colleague' }] });
    const save = page.getByRole('button', { name: 'Save the rules' });
    await save.click();
    await page.getByText('Another member has changed the same part meanwhile').waitFor();
    expect(await name.inputValue()).toBe('Dark lamps');
    expect((await call(page, 'GET', path)).rules[0].name).toBe('Rule of a colleague');
    // A text that is typed during the save would be lost.
    let wasEditable: boolean | undefined;
    await page.route(`**${path}`, async (route) => {
      if (route.request().method() === 'PATCH') wasEditable = await name.isEditable();
      await route.continue();
    });
    await save.click();
    await page.getByText('The rules were saved').waitFor();
    expect(wasEditable).toBe(false);
    expect((await call(page, 'GET', path)).rules[0].name).toBe('Dark lamps');
    await page.unroute(`**${path}`);
  }, 60_000);

  it('sees which changes of a colleague a save will replace, before the save', async () => {
    const { page } = firstMember;
    const path = `/v1/keywords/${(await firstMember.keyword()).id}`;
    await firstMember.openEditor();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('Umbra Lamp of mine');
    await call(page, 'PATCH', path, { name: 'Umbra Lamp of a colleague', languages: ['en'] });
    await page.getByRole('button', { name: 'Review and save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save these changes?' });
    const save = dialog.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await dialog.getByText('Another member has changed the same parts').waitFor();
    await dialog.getByText('Umbra Lamp of a colleague').waitFor();
    await save.click();
    await page.getByRole('heading', { name: 'Umbra Lamp of mine' }).waitFor();
    expect(await call(page, 'GET', path)).toMatchObject({ name: 'Umbra Lamp of mine', languages: ['en'] });
    await call(page, 'PATCH', path, { name: 'Umbra Lamp', languages: null });
  }, 60_000);

  it('sees the price of an Explore, asks the sources once, and keeps the question as a keyword', async () => {
    const { page } = firstMember;
    await page.goto(`${firstMember.url}/explore`);
    await page.getByRole('textbox', { name: 'Words to search for' }).fill('Umbra Lamp');
    await page.getByRole('button', { name: 'Show the price' }).click();
    await page.getByRole('button', { name: /^Ask now for \d+ credits$/ }).click();
    await page.getByRole('link', { name: 'Keep as a keyword' }).click();
    await page.waitForURL('**/keywords/new?**');
    expect(await page.getByRole('textbox', { name: 'Name' }).first().inputValue()).toBe('Umbra Lamp');
  }, 150_000);

  it('sees all movements of credits, and that the sums of the ledger agree', async () => {
    const { page, faults } = firstMember;
    await page.goto(`${firstMember.url}/credits`);
    await page.getByText('The ledger is consistent').waitFor();
    await page.getByRole('table', { name: 'Movements of credits' }).getByText('Check').first().waitFor();
    await page
      .getByRole('table', { name: 'Credits by source', exact: true })
      .getByText('Hacker News')
      .waitFor();
    expect(faults).toEqual([]);
  }, 150_000);
}

/**
 * Answers like a backtest in which a rule fires rarely: the first and the third page are empty, and the second and the
 * fourth page have mentions.
 */
async function withEmptyPages(route: Route): Promise<void> {
  const url = new URL(route.request().url());
  const cursor = url.searchParams.get('cursor');
  url.searchParams.delete('cursor');
  // On a busy machine, the first page can end before it has found an item.
  let found: { data: object[]; nextCursor?: string };
  do {
    found = (await (await route.fetch({ url: url.href })).json()) as typeof found;
    if (found.nextCursor !== undefined) url.searchParams.set('cursor', found.nextCursor);
  } while (found.data.length === 0 && found.nextCursor !== undefined);
  const { data } = found;
  const pages: Record<string, object> = {
    first: { data: [], nextCursor: 'a' },
    a: { data, nextCursor: 'b' },
    b: { data: [], nextCursor: 'c' },
    c: { data: [{ ...data[0], mentionId: 'rare', title: 'A rare mention' }] },
  };
  await route.fulfill({ json: pages[cursor ?? 'first'] });
}
