import { insertRows, type AnswerRow } from '#clickhouse';
import type { Json } from '#testing';
import { observation, observe } from '../interface/observed-listings.js';
import { findingsInBothThemes } from './chromium.js';
import { answerRow, sleepingKeyword } from './hostile-fields.js';
import { call } from './installation.js';
import { type Member, RECALL } from './member.js';

/** Tests: a member looks at AI answers, prices, analyses, Explores, backtests and deliveries. */
export function insightTasks(member: Member): void {
  it('sees how AI engines rank a brand, and which words of an answer changed', async () => {
    const { clickhouse, page, accountId } = member;
    const { id: keyword_id, watches } = await call(
      page,
      'POST',
      '/v1/keywords',
      sleepingKeyword('Lamps', 'Which lamp?'),
    );
    const { id: watch_id } = watches.find(({ source }: Json) => source === 'ai_answers');
    const ids = { account_id: accountId, keyword_id, watch_id };
    await insertRows<AnswerRow>(clickhouse, 'answers', [
      answerRow(ids, {
        text: 'Northwind is the best lamp.',
        answered_at: new Date(Date.now() - 60_000).toISOString(),
      }),
      answerRow(ids, {
        text: 'Lumora is the best lamp.',
        citations: '[{"url":"https://lumora.example/lamps","title":"All lamps"}]',
      }),
    ]);
    await member.open('answers');
    await page.getByRole('row', { name: /ChatGPT \(OpenAI\) 50% 50% 1 2/ }).waitFor();
    expect(await page.locator('ins').allInnerTexts()).toEqual(['Lumora']);
    expect(await page.locator('del').allInnerTexts()).toEqual(['Northwind']);
    const source = page.getByRole('link', { name: 'All lamps' });
    expect(await source.getAttribute('href')).toBe('https://lumora.example/lamps');
    expect(await findingsInBothThemes(page)).toEqual([]);
  }, 90_000);

  it('sees the prices of each market by day, and the price steps of one listing', async () => {
    const { clickhouse, page, accountId } = member;
    const lamps = (await call(page, 'GET', '/v1/keywords?q=Lamps')).data[0] as Json;
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const see = (listing_id: string, minutes: number, event: string, price: string) =>
      observation(accountId, {
        ...{
          keyword_id: lamps.id,
          listing_id,
          observed_at: at(minutes),
          event,
          price,
          first_seen_at: at(300),
        },
      });
    const listings = ['1', '2', '3', '4', '5', '6'].map((id) => see(id, 2, 'created', `${id}0.00`));
    const german = ['11', '12', '13', '14', '15'].map((id) => ({
      ...see(id, 2, 'created', '80.00'),
      market: 'de',
    }));
    await observe(clickhouse, [...listings, see('1', 1, 'price_changed', '15.50'), ...german]);
    await member.open('vinted');
    const days = (market: string) =>
      page.getByRole('table', { name: `Market ${market}, prices in EUR, by day` });
    await days('fr')
      .getByRole('row', { name: /6 €35\.00 €\S+ – €\S+ / })
      .waitFor();
    await days('de')
      .getByRole('row', { name: /5 €80\.00 €80\.00 – €80\.00 / })
      .waitFor();
    for (const market of ['fr', 'de']) expect(await days(market).locator('tbody tr').count()).toBe(1);
    expect(await findingsInBothThemes(page)).toEqual([]);
    await page.getByRole('tab', { name: 'One item' }).click();
    await page.getByRole('textbox', { name: 'Item' }).fill('https://www.vinted.fr/items/1-lamp');
    await page.getByRole('button', { name: 'Show prices' }).click();
    await page.getByRole('row', { name: /€15\.50 €10\.00 Price changed/ }).waitFor();
  }, 90_000);

  it('sees the price of a summary for the chosen number of mentions, and gets the summary with links', async () => {
    const { page } = member;
    await member.open('explore?tab=analyses');
    await page.getByRole('combobox', { name: 'Keyword' }).click();
    await page.getByRole('option', { name: 'Lumora' }).click();
    await page.getByText('This costs at most 4 credits').waitFor();
    await page.getByLabel('Maximum number').fill('2');
    await page.getByText('This costs at most 2 credits').waitFor();
    await page.getByLabel('Maximum number').fill('50');
    await page.getByText('This costs at most 4 credits').waitFor();
    await page.getByRole('button', { name: 'Analyse for 4 credits' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('4 credits used.').waitFor();
    await result.getByRole('link', { name: RECALL.title }).first().waitFor();
    expect(await findingsInBothThemes(page)).toEqual([]);
  }, 90_000);

  it('asks a language model the same question about each mention after seeing the price', async () => {
    const { page } = member;
    await member.open('explore?tab=analyses');
    await page.getByRole('combobox', { name: 'Keyword' }).click();
    await page.getByRole('option', { name: 'Lumora' }).click();
    await page.getByRole('combobox', { name: 'What to do' }).click();
    await page.getByRole('option', { name: 'Follow an instruction' }).click();
    await page.getByRole('textbox', { name: 'Instruction' }).fill('Where does the author live?');
    await page.getByText('This costs at most 4 credits').waitFor();
    await page.getByRole('textbox', { name: 'Field' }).fill('place');
    await page.getByLabel('Type').selectOption('enum');
    await page.getByRole('button', { name: 'Analyse for 4 credits' }).click();
    await page.getByText('an enum needs values').waitFor();
    for (const value of ['Vienna', 'Denver']) {
      await page.getByLabel('Values').first().fill(value);
      await page.keyboard.press('Enter');
    }
    await page.getByRole('button', { name: 'Analyse for 4 credits' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('4 credits used.').waitFor();
    const places = await result.getByText(/^place: /).allInnerTexts();
    expect(places.sort()).toEqual(
      ['–', 'Denver', 'Denver', 'Vienna'].map((place) => `place: ${place}`).sort(),
    );
    expect(await findingsInBothThemes(page)).toEqual([]);
  }, 90_000);

  it('sees different messages for an Explore without answers and for an Explore without posts', async () => {
    const { page } = member;
    const source = { source: 'hackernews', items: 0, warning: null };
    const explore = {
      ...{
        id: 'one',
        question: 'lumora',
        createdAt: new Date().toISOString(),
        creditsQuoted: 4,
        creditsUsed: 0,
      },
      sources: [{ ...source, status: 'failed', error: 'Hacker News answered 500' }],
    };
    const failed = { ...explore, status: 'failed' };
    const answered = { ...source, source: 'reddit', status: 'done', error: null };
    const done = { ...explore, status: 'done', creditsUsed: 2, sources: [...explore.sources, answered] };
    await page.route('**/v1/explore/one/items*', (route) => route.fulfill({ json: { data: [] } }));
    await page.route('**/v1/explore/one', (route) => route.fulfill({ json: failed }));
    await member.open('explore?run=one');
    await page.getByText('No source answered').waitFor();
    expect(await page.getByText('no posts with these words').count()).toBe(0);
    await page.unroute('**/v1/explore/one');
    await page.route('**/v1/explore/one', (route) => route.fulfill({ json: done }));
    await page.reload();
    await page.getByText('The sources that answered have no posts with these words now.').waitFor();
    await page.unroute('**/v1/explore/one');
    await page.unroute('**/v1/explore/one/items*');
  }, 90_000);

  it('sees which rules no longer fire for a mention of a backtest, even if no rule fires for any mention', async () => {
    const { page } = member;
    const lumora = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    const [volume, disabled] = [
      '11111111-1111-7111-8111-111111111111',
      '22222222-2222-7222-8222-222222222222',
    ];
    const common = { source: null, then: [{ type: 'webhook' }] };
    const rules = [
      {
        ...{ ...common, id: volume, name: 'Many', enabled: true },
        when: { kind: 'volume', window: '1h', min: 1, multiple: 1 },
      },
      {
        ...{ ...common, id: disabled, name: 'Dark lamps', enabled: false },
        when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: 'dark' }] },
      },
    ];
    const at = new Date().toISOString();
    const alert = { at, kind: 'volume', observed: 4, baseline: 0, ruleId: volume, name: 'Many' };
    const day = { date: at.slice(0, 10), count: 1 };
    const tested = {
      ...{ id: 'one', window: { from: at, to: at }, items: 1, dropped: [], added: 0, alerts: [alert] },
      ...{ removed: 0, byRule: [{ ruleId: volume, name: 'Many', fired: 1, perDay: [day] }] },
    };
    const item = {
      ...{
        mentionId: 'one',
        occurredAt: at,
        source: 'hackernews',
        title: 'A dark lamp',
        url: 'https://a.example/',
      },
      ...{ dropped: null, droppedThen: null, labels: [], rules: [], added: [] },
      removed: [disabled, '33333333-3333-7333-8333-333333333333'],
    };
    const keyword = `**/v1/keywords/${lumora.id}`;
    await page.route(keyword, (route) => route.fulfill({ json: { ...lumora, rules } }));
    await page.route(`${keyword}/backtest`, (route) => route.fulfill({ json: tested }));
    await page.route(`${keyword}/backtest/one/items?*`, (route) => {
      const isFired = new URL(route.request().url()).searchParams.get('fired') === 'true';
      return route.fulfill({ json: { data: isFired ? [] : [item] } });
    });
    await member.open(`keywords/${lumora.id}/rules`);
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    const row = page.getByRole('table', { name: 'Mentions of the backtest' }).getByRole('row').nth(1);
    await row.getByText('A dark lamp').waitFor();
    const difference = await row.getByRole('cell').last().innerText();
    expect(difference.replaceAll(/[\u2066-\u2069]/g, '')).toBe('− Dark lamps, − a removed rule');
    await page.unrouteAll();
  }, 90_000);

  it('reads “No delivery with this state and keyword” if the filters exclude all deliveries', async () => {
    const { page } = member;
    await member.open('deliveries?state=given_up');
    await page.getByText('No delivery with this state and keyword').waitFor();
    expect(await page.getByText('Nothing was sent').count()).toBe(0);
  }, 90_000);
}
