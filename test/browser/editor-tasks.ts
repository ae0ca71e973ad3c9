import type { Locator } from 'playwright-core';
import { until, type Json } from '#testing';
import { EDITOR_FIELDS, fieldOf, FULL_KEYWORD, GIVEN_BY_EARSHOT } from './editor-fields.js';
import { call } from './installation.js';
import { RECALL, type Member } from './member.js';
import { leavesOf } from './schema-paths.js';

/** Tests: a member writes a keyword in the editor. */
export function editorTasks(member: Member): void {
  it('removes the last source of a new keyword, and reads that no source is chosen', async () => {
    const { page } = member;
    await member.open('start');
    const chosen = page.getByRole('checkbox', { checked: true });
    await chosen.first().waitFor({ state: 'attached' });
    for (let left = await chosen.count(); left > 0; left -= 1) {
      const id = await chosen.first().getAttribute('id');
      await page.locator(`label[for="${id}"]`).click();
      await until('the source is removed', async () => (await chosen.count()) < left);
    }
    await page.getByText('No source is chosen').waitFor();
  }, 60_000);

  it('finds a field in the editor for every value of the request that creates a keyword', async () => {
    const { page } = member;
    const paths = leavesOf('KeywordBody').map(({ path }) => path);
    expect([...Object.keys(EDITOR_FIELDS), ...GIVEN_BY_EARSHOT].sort()).toEqual(paths.sort());
    const lumora = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    const { id: channelId } = (await call(page, 'GET', '/v1/channels')).data[0] as Json;
    const keyword = `**/v1/keywords/${lumora.id}`;
    const full = { ...lumora, ...FULL_KEYWORD, channels: [{ channelId, mode: 'daily' }] };
    await page.route(keyword, (route) => route.fulfill({ json: full }));
    await member.open(`keywords/new?from=${lumora.id}`);
    const closed = page
      .getByRole('region', { name: 'Where', exact: true })
      .locator('button[aria-expanded=false]');
    await fieldOf(page, EDITOR_FIELDS['name'] ?? ['', '']).waitFor();
    while ((await closed.count()) > 0) await closed.first().click();
    const missing = async () => {
      const found = await Promise.all(
        Object.entries(EDITOR_FIELDS).map(async ([path, field]) => {
          const element = fieldOf(page, field);
          return (await element.count()) === 1 && (await element.isEnabled()) ? [] : [path];
        }),
      );
      return found.flat();
    };
    // The expectation shows which fields are missing; the error of a wait that is too long does not.
    await until('every field is there', async () => (await missing()).length === 0).catch(() => undefined);
    expect(await missing()).toEqual([]);
    await page.unroute(keyword);
  }, 90_000);

  it('writes a rule when a keyword is created, and sees a message next to each field of the rule without a value', async () => {
    const { page } = member;
    await member.open('keywords/new?name=Ruled&query=lumora&source=hackernews');
    const rules = page.getByRole('region', { name: 'Rules', exact: true });
    await rules.getByText('A backtest is possible once the keyword exists').waitFor();
    await rules.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('button', { name: 'Create the keyword' }).click();
    await rules.getByText('Give the rule a name').waitFor();
    await rules.getByText('Enter a value').waitFor();
    await rules.getByRole('textbox', { name: 'Rule 1' }).fill('Dark');
    await rules.getByRole('textbox', { name: 'Clause 1: value' }).fill('dark');
    await page.getByRole('region', { name: 'Price' }).getByText('credits a month').waitFor();
    await page.getByRole('button', { name: 'Create the keyword' }).click();
    await page.getByRole('heading', { name: 'Ruled' }).waitFor();
    const { rules: made } = (await call(page, 'GET', '/v1/keywords?q=Ruled')).data[0] as Json;
    expect(made).toMatchObject([
      {
        name: 'Dark',
        when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: 'dark' }] },
        then: [{ type: 'mark', label: 'to_reply' }],
      },
    ]);
  }, 90_000);

  it('enters brands that contain a space, feed addresses that contain a comma, and authors whose names contain a comma', async () => {
    const { page } = member;
    await member.open('keywords/new?name=Listed&query=lumora&source=ai_answers&source=rss');
    const where = page.getByRole('region', { name: 'Where', exact: true });
    const rules = page.getByRole('region', { name: 'Rules', exact: true });
    const type = async (field: Locator, text: string) => {
      await field.pressSequentially(text);
      await field.press('Enter');
    };
    const compare = async (clause: number, field: string, comparison: string) => {
      await rules.getByLabel(`Clause ${clause}: field`).fill(field);
      await rules.getByLabel(`Clause ${clause}: comparison`).click();
      await page.getByRole('option', { name: comparison, exact: true }).click();
    };
    const addSearch = where.getByRole('button', { name: 'Add a search with separate criteria' });
    await addSearch.first().click();
    await addSearch.last().click();
    await type(where.getByLabel('Brands to look for in the answers'), 'Acme Rocket, Globex');
    await type(where.getByLabel('Feeds'), 'https://a.example/feed?tags=a,b https://b.example/feed');
    await rules.getByRole('button', { name: 'Add a rule' }).click();
    await compare(1, 'author', 'is one of');
    await type(rules.getByLabel('Clause 1: value'), 'Doe, Jane');
    await type(rules.getByLabel('Clause 1: value'), 'Smith');
    await rules.getByRole('button', { name: 'Add a clause' }).click();
    const priced = page.waitForRequest(
      (request) =>
        request.url().includes('/v1/keywords/estimate') &&
        Boolean(request.postData()?.includes('"op":"exists"')),
    );
    await compare(2, 'community', 'has no value');
    const body = (await priced).postDataJSON() as Json;
    const feeds = ['https://a.example/feed?tags=a,b', 'https://b.example/feed'];
    expect(body.sources).toMatchObject([
      { source: 'rss', searches: [{ overrides: { filters: { feed_urls: feeds } } }] },
      { source: 'ai_answers', searches: [{ overrides: { filters: { brands: ['Acme Rocket', 'Globex'] } } }] },
    ]);
    expect(body.rules[0].when.all).toEqual([
      { field: 'author', op: 'in', value: ['Doe, Jane', 'Smith'] },
      { field: 'community', op: 'exists', value: false },
    ]);
  }, 90_000);

  it('cannot choose a fifth action of a rule, and sees why', async () => {
    const { page } = member;
    const { name: channel } = (await call(page, 'GET', '/v1/channels')).data[0] as Json;
    await member.open('keywords/new?name=Full&query=lumora&source=hackernews');
    const rules = page.getByRole('region', { name: 'Rules', exact: true });
    const action = (name: string | RegExp) => rules.getByRole('checkbox', { name });
    const option = (name: string) => page.getByRole('option', { name, exact: true });
    const open = (list: string) => rules.getByLabel(list).press('ArrowDown');
    const why = rules.getByText('A rule has at most 4 actions');
    await rules.getByRole('button', { name: 'Add a rule' }).click();
    await action('Notify').check();
    await action(/^Stop/).check();
    await open('Channels to notify');
    await option(channel).click();
    expect(await why.count()).toBe(0);
    await option('All channels of the keyword').click();
    await why.waitFor();
    expect(await action('Send to the webhook').isDisabled()).toBe(true);
    // The open list covers the fields below.
    await page.keyboard.press('Escape');
    await open('Labels to set');
    expect(await option('Starred').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await action('Label').uncheck();
    await action('Send to the webhook').check();
    expect(await action('Label').isDisabled()).toBe(true);
    await action(/^Stop/).uncheck();
    await why.waitFor({ state: 'detached' });
    expect(await action('Label').isEnabled()).toBe(true);
  }, 90_000);

  it('reads that a keyword with a query needs at least two terms, and adds a second term', async () => {
    const { page } = member;
    await member.open('keywords/new?name=Combined&query=lamp&source=hackernews');
    const terms = fieldOf(page, EDITOR_FIELDS['globalCriteria.terms[]'] ?? ['', '']);
    const create = page.getByRole('button', { name: 'Create the keyword' });
    await terms.fill('lumora');
    await terms.press('Enter');
    await create.click();
    await page.getByText('Enter at least two terms').waitFor();
    await terms.fill('lumoralamp');
    await terms.press('Enter');
    await page.getByRole('region', { name: 'Price' }).getByText('credits a month').waitFor();
    await create.click();
    await page.getByRole('heading', { name: 'Combined' }).waitFor();
    const { globalCriteria } = (await call(page, 'GET', '/v1/keywords?q=Combined')).data[0] as Json;
    expect(globalCriteria).toMatchObject({ query: 'lamp', terms: ['lumora', 'lumoralamp'] });
  }, 90_000);

  it.each([
    [1, 'Saved. 1 search starts over.'],
    [2, 'Saved. 2 searches start over.'],
  ])(
    'reads after a save how many searches start over: %i',
    async (count, text) => {
      const { page } = member;
      const lumora = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
      await page.route(`**/v1/keywords/${lumora.id}`, (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({ json: { ...lumora, resetSearches: Array.from({ length: count }, () => ({})) } })
          : route.fallback(),
      );
      await member.open(`keywords/${lumora.id}/edit`);
      await page.getByRole('textbox', { name: 'Name' }).first().fill('Lumora lamps');
      await page.getByRole('button', { name: 'Review and save' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(text, { exact: true }).waitFor();
      await page.unroute(`**/v1/keywords/${lumora.id}`);
    },
    90_000,
  );

  it('sees that no source answered a preview', async () => {
    const { page } = member;
    const failed = {
      source: 'hackernews',
      status: 'failed',
      items: 0,
      error: 'it answered 500',
      warning: null,
    };
    await page.route('**/v1/explore', (route) => route.fulfill({ status: 202, json: { id: 'one' } }));
    await page.route('**/v1/explore/one', (route) =>
      route.fulfill({ json: { id: 'one', status: 'failed', sources: [failed] } }),
    );
    await page.route('**/v1/explore/one/items*', (route) => route.fulfill({ json: { data: [] } }));
    await member.open('keywords/new?name=Preview&query=lumora&source=hackernews');
    const preview = page.getByRole('region', { name: 'Preview', exact: true });
    await preview.getByRole('button', { name: 'Show the price of a preview' }).click();
    await preview.getByRole('button', { name: 'Show me, for 2 credits' }).click();
    await preview.getByText('Hacker News did not answer').waitFor();
    await preview.getByText('No source answered').waitFor();
    expect(await preview.getByText('have nothing about these terms').count()).toBe(0);
    await page.unrouteAll();
  }, 90_000);

  it('sees the price of a preview in the editor, and then what a source finds for the terms', async () => {
    const { page } = member;
    await member.open('keywords/new?name=Preview&query=lumora&source=hackernews');
    const preview = page.getByRole('region', { name: 'Preview', exact: true });
    const ask = preview.getByRole('button', { name: 'Show the price of a preview' });
    await ask.click();
    const pay = preview.getByRole('button', { name: 'Show me, for 2 credits' });
    const expired = { error: 'the estimate has expired', code: 'ESTIMATE_EXPIRED' };
    await page.route('**/v1/explore', (route) => route.fulfill({ status: 409, json: expired }), { times: 1 });
    await pay.waitFor();
    const priced = page.waitForResponse('**/v1/explore/estimate');
    await pay.click();
    await preview.getByText('The preview did not begin').waitFor();
    await priced;
    const begun = page.waitForResponse('**/v1/explore');
    await pay.click();
    const { id } = (await (await begun).json()) as { id: string };
    await preview.getByText('matches lumora').first().waitFor();
    // Asks for the same terms again.
    await preview.getByRole('button', { name: 'Ask for the present terms' }).click();
    await pay.waitFor();
    await page.getByLabel('Terms match').first().selectOption('contains');
    await preview.getByText('A preview needs terms that match as whole words').waitFor();
    expect(await preview.getByRole('button', { name: 'Ask for the present terms' }).isDisabled()).toBe(true);
    // Opens this preview on the page Explore without loading the document again, so that its results are still in
    // memory.
    page.once('dialog', (leave) => void leave.accept());
    await page.getByRole('link', { name: 'Explore', exact: true }).click();
    await page.getByRole('heading', { name: 'Explore', exact: true }).waitFor();
    await page.evaluate(
      `history.pushState(null, '', 'explore?run=${id}'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByRole('heading', { name: '“lumora”' }).waitFor();
    await page.getByText(RECALL.title).first().waitFor();
  }, 90_000);
}
