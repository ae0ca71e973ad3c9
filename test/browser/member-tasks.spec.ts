import type { Page } from 'playwright-core';
import { insertRows, openClickHouse, selectRows, type AnswerRow, type ClickHouseClient } from '#clickhouse';
import { openDatabase, type Database } from '#postgres';
import { until, type Json } from '#testing';
import { observation, observe } from '../interface/observed-listings.js';
import { findingsInBothThemes, openPage } from './chromium.js';
import { EDITOR_FIELDS, fieldOf, FULL_KEYWORD, GIVEN_BY_EARSHOT } from './editor-fields.js';
import { directionsOf, harmIn, hostilePages, lostIn, missingIn } from './hostile-pages.js';
import {
  answerRow,
  harmlessFields,
  hostile,
  mentionRow,
  sleepingKeyword,
  writeHostileFields,
} from './hostile-fields.js';
import { leavesOf } from './schema-paths.js';
import { publishMentions } from './many-mentions.js';
import { call, openBrowserStage, signUpThroughApi, type BrowserStage } from './installation.js';

const RECALL = { title: 'Lumora recalls its desk lamp after two fires in Denver homes' };

/** Reverses everything up to the end of its paragraph, or of its isolation. */
const REVERSED = '\u202e';

describe('a member in the dashboard', () => {
  let stage: BrowserStage;
  let clickhouse: ClickHouseClient;
  let database: Database;
  let page: Page;
  let faults: string[];
  let accountId: string;

  beforeAll(async () => {
    stage = await openBrowserStage({ hasModel: true });
    clickhouse = await openClickHouse(stage.stage.stores.clickhouseUrl, 'test');
    database = await openDatabase(stage.stage.stores.databaseUrl, 'test', 2);
    ({ page, faults } = await openPage(stage.browser, { userAgent: hostile('browser') }));
    const post = (text: string, more: object = {}) =>
      stage.stage.simulator.world.publish('hackernews', { title: '', text, ...more });
    post('', { ...RECALL, link: 'https://news.example/lumora-recall' });
    post('', { ...RECALL, link: 'https://www.news.example/lumora-recall?utm_source=mail' });
    post('My Lumora is dark long before lunch, its battery hardly lasts the morning.');
    post('Where in Vienna is a shop that sells the Lumora?');
    ({ id: accountId } = (await signUpThroughApi(page, stage)).account);
    await call(page, 'POST', '/v1/keywords', {
      ...{ name: 'Lumora', refreshIntervalSeconds: 86_400, backfill: true },
      globalCriteria: { market: 'global', query: 'lumora' },
      sources: [{ source: 'hackernews', enabled: true }],
    });
    const found = 'SELECT uniqExact(event_id) AS n FROM mention_vectors';
    await until(
      'the posts can be searched by meaning',
      async () => Number((await selectRows<{ n: string }>(clickhouse, found))[0]?.n) === 4,
      90_000,
    );
  }, 180_000);

  afterAll(async () => {
    await clickhouse?.close();
    await database?.destroy();
    await stage?.close();
  });

  const open = (path: string) => page.goto(`${stage.url}/${path}`);

  it('finds mentions by their meaning, for the price on the button', async () => {
    await open('feed');
    await page.getByText('Meaning', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Search mentions' }).fill('the battery is empty too early');
    await page.getByRole('button', { name: 'Search · 2 credits' }).click();
    await page.getByText('This search cost 2 credits.').waitFor();
    expect(await findingsInBothThemes(page)).toEqual([]);
    const first = await page.getByRole('article').first().innerText();
    expect(first).toContain('its battery hardly lasts the morning');
  }, 90_000);

  it('folds the mentions of one story into a row, and opens the story', async () => {
    await open('feed');
    const stories = page.getByRole('article').filter({ hasText: RECALL.title });
    await stories.nth(1).waitFor();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('checkbox', { name: 'One row per story' }).click();
    await until('one row is left', async () => (await stories.count()) === 1);
    await page.getByRole('button', { name: '1 more of this story' }).click();
    await until('the story is open', async () => (await stories.count()) === 2);
    expect(await page.getByRole('article').count()).toBe(4);
  }, 90_000);

  it('sees dropped mentions with their reason on demand', async () => {
    const { id: keyword_id, watches } = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    const owner = { account_id: accountId, keyword_id, watch_id: watches[0].id };
    const dropped = { title: 'A Lumora for free', dropped_reason: 'muted', dropped_rule: 'for free' };
    await insertRows(clickhouse, 'mentions', [mentionRow(owner, dropped)]);
    await open('feed');
    await page.getByRole('article').nth(3).waitFor();
    const row = page.getByRole('article').filter({ hasText: 'A Lumora for free' });
    expect(await row.count()).toBe(0);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('checkbox', { name: 'Also dropped mentions' }).click();
    await row.getByText('Dropped: muted (for free)').waitFor();
    expect(new URL(page.url()).searchParams.get('include')).toBe('dropped');
  }, 90_000);

  it('compares the mentions of a keyword with those of its competitors', async () => {
    const body = sleepingKeyword('Northwind', 'Which lamp?', { subjectRole: 'competitor' });
    const { id: keyword_id, watches } = await call(page, 'POST', '/v1/keywords', body);
    const owner = { account_id: accountId, keyword_id, watch_id: watches[0].id };
    await insertRows(clickhouse, 'mentions', [mentionRow(owner, { title: 'A Northwind' })]);
    const lumora = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    await open(`keywords/${lumora.id}`);
    const voices = page.getByRole('region', { name: 'Share of voice' });
    await voices.getByText('80% · 4').waitFor();
    await voices.getByText('20% · 1').waitFor();
    expect(await voices.getByRole('link').allInnerTexts()).toEqual(['Lumora', 'Northwind']);
  }, 90_000);

  it('rotates the signing secret, and sees until when the one before still signs', async () => {
    const before = (await call(page, 'GET', '/v1/signing-secret')).signingSecret as string;
    await open('settings/webhooks');
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const field = page.getByRole('textbox', { name: 'Secret' });
    const after = await field.inputValue();
    expect([after.length, after === before]).toEqual([before.length, false]);
    const until24h = page
      .getByText(/^Until .*, deliveries are also signed with the secret before/)
      .locator('time');
    const hours = (Date.parse((await until24h.getAttribute('datetime')) ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    await page.reload();
    await page.getByRole('button', { name: 'Show the secret' }).waitFor();
    expect(await field.count()).toBe(0);
  }, 90_000);

  it('adds a Discord channel and sends a test message to it', async () => {
    await open('channels');
    await addChannel('Discord', 'Lamp room', async (dialog) => {
      await dialog.getByLabel('Webhook address').fill('https://discord.com/api/webhooks/1/token');
    });
    const card = page.getByRole('region', { name: 'Lamp room' });
    await card.getByRole('button', { name: 'Send a test' }).click();
    await card.getByText('The message arrived').waitFor();
    expect(stage.stage.simulator.inbox.messages('discord')).toHaveLength(1);
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
      await open('channels');
      await addChannel(kind, `${kind} room`, async (dialog) => {
        for (const [label, value] of Object.entries(values)) await dialog.getByLabel(label).fill(value);
      });
      const card = page.getByRole('region', { name: `${kind} room` });
      await card.getByRole('button', { name: 'Send a test' }).click();
      await card.getByText('The message arrived').waitFor();
      expect(stage.stage.simulator.inbox.messages(inbox)).toHaveLength(1);
    },
    90_000,
  );

  it('adds an e-mail channel, which becomes active when its owner confirms the address', async () => {
    await open('channels');
    await addChannel('E-mail', 'Letters', async (dialog) => {
      await dialog.getByLabel('Addresses').fill('bob@example.org');
      await page.keyboard.press('Enter');
    });
    const card = page.getByRole('region', { name: 'Letters' });
    await card.getByText('bob@example.org: unverified').waitFor();
    const inbox = stage.stage.simulator.inbox;
    const mail = await until('the mail is there', () => inbox.messages('smtp', 'bob@example.org')[0]);
    const link = new URL(/https?:\S+\/channels\/verify\S+/.exec(mail.text)?.[0] ?? '');
    await open(`${link.pathname.slice(1)}${link.search}`);
    await page.getByRole('button').click();
    await open('channels');
    await card.getByText('bob@example.org: verified').waitFor();
    await card.getByText('Active', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Send a test' }).click();
    await card.getByText('The message arrived').waitFor();
  }, 90_000);

  it('gives a keyword a daily digest, and takes it away again', async () => {
    await open('digests');
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

  it('sees how AI engines rank a brand, and which words of an answer changed', async () => {
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
    await open('answers');
    await page.getByRole('row', { name: /ChatGPT \(OpenAI\) 50% 50% 1 2/ }).waitFor();
    expect(await page.locator('ins').allInnerTexts()).toEqual(['Lumora']);
    expect(await page.locator('del').allInnerTexts()).toEqual(['Northwind']);
    const source = page.getByRole('link', { name: 'All lamps' });
    expect(await source.getAttribute('href')).toBe('https://lumora.example/lamps');
    expect(await findingsInBothThemes(page)).toEqual([]);
  }, 90_000);

  it('sees the prices of a market by day, and the price steps of one listing', async () => {
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
    await observe(clickhouse, [...listings, see('1', 1, 'price_changed', '15.50')]);
    await open('vinted');
    await page.getByRole('row', { name: /6 €35\.00 €\S+ – €\S+ / }).waitFor();
    expect(await findingsInBothThemes(page)).toEqual([]);
    await page.getByRole('tab', { name: 'One item' }).click();
    await page.getByRole('textbox', { name: 'Item' }).fill('https://www.vinted.fr/items/1-lamp');
    await page.getByRole('button', { name: 'Show prices' }).click();
    await page.getByRole('row', { name: /€15\.50 €10\.00 Price changed/ }).waitFor();
  }, 90_000);

  it('has a field in the editor for every value of the body that creates a keyword', async () => {
    const paths = leavesOf('KeywordBody').map(({ path }) => path);
    expect([...Object.keys(EDITOR_FIELDS), ...GIVEN_BY_EARSHOT].sort()).toEqual(paths.sort());
    const lumora = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data[0] as Json;
    const { id: channelId } = (await call(page, 'GET', '/v1/channels')).data[0] as Json;
    const keyword = `**/v1/keywords/${lumora.id}`;
    const full = { ...lumora, ...FULL_KEYWORD, channels: [{ channelId, mode: 'daily' }] };
    await page.route(keyword, (route) => route.fulfill({ json: full }));
    await open(`keywords/new?from=${lumora.id}`);
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
    await until('every field is there', async () => (await missing()).length === 0).catch(() => 'see below');
    expect(await missing()).toEqual([]);
    await page.unroute(keyword);
  }, 90_000);

  it('writes a rule when a keyword is created, and sees beside its fields what is missing', async () => {
    await open('keywords/new?name=Ruled&query=lumora&source=hackernews');
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

  it('gets a summary of the mentions of a keyword, in which each sentence names its posts', async () => {
    await open('explore?tab=analyses');
    await page.getByRole('combobox', { name: 'Keyword' }).click();
    await page.getByRole('option', { name: 'Lumora' }).click();
    await page.getByText('This costs at most 4 credits').waitFor();
    await page.getByRole('button', { name: 'Analyse for 4 credits' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('4 credits used.').waitFor();
    await result.getByRole('link', { name: RECALL.title }).first().waitFor();
    expect(await findingsInBothThemes(page)).toEqual([]);
  }, 90_000);

  it('asks a language model the same about each mention, after the price', async () => {
    await open('explore?tab=analyses');
    await page.getByRole('combobox', { name: 'Keyword' }).click();
    await page.getByRole('option', { name: 'Lumora' }).click();
    await page.getByRole('combobox', { name: 'What to do' }).click();
    await page.getByRole('option', { name: 'Answer by an instruction' }).click();
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

  it('sees the text of strangers as text on every page, and no link of theirs that leaves the web', async () => {
    stage.stage.simulator.world.publish('hackernews', {
      ...{ title: hostile('found'), text: 'About the Umbra.', author: hostile('poster') },
      link: 'javascript:hit=4',
    });
    const ids = await writeHostileFields(page, { clickhouse, database }, accountId);
    const mentions = await Promise.all(ids.mentionIds.map((id) => call(page, 'GET', `/v1/mentions/${id}`)));
    expect(harmlessFields(mentions)).toEqual([]);
    for (const { path, fields, open: openMore } of hostilePages(ids)) {
      await open(path);
      await openMore?.(page);
      const missing = () => missingIn(page, fields);
      await until('every text is shown', async () => (await missing()).length === 0).catch(() => 'see below');
      expect([path, await missing(), await harmIn(page)]).toEqual([path, [], []]);
      for (const width of [360, 1280]) {
        // Once: each call begins the movement of the page to its new width again.
        await page.setViewportSize({ width, height: 860 });
        const lost = () => lostIn(page);
        await until('all text can be read', async () => (await lost()).length === 0, 20_000).catch(() => '');
        expect([path, width, await lost()]).toEqual([path, width, []]);
      }
    }
    expect(faults).toEqual([]);
  }, 180_000);

  it('shows a text of a stranger that reverses the direction without reversing the text next to it', async () => {
    const { id: channelId } = await call(page, 'POST', '/v1/channels', {
      ...{ kind: 'webhook', name: `${REVERSED}room`, config: { url: 'https://example.org/hook' } },
    });
    const more = { channels: [{ channelId, mode: 'daily' }] };
    const body = sleepingKeyword('Mirrors', 'Which mirror?', more);
    const { id: keyword_id, watches } = await call(page, 'POST', '/v1/keywords', body);
    const owner = { account_id: accountId, keyword_id, watch_id: watches[0].id };
    const mention = mentionRow(owner, {
      ...{ title: 'A mirror', author: 'plain_handle', author_name: `${REVERSED}name` },
      community: `${REVERSED}community`,
    });
    const written = [
      mention,
      mentionRow(owner, { author: `${REVERSED}author`, title: '\u200b\u3164', text: 'Seen.' }),
    ];
    await insertRows(clickhouse, 'mentions', written);
    await open(`feed?keyword=${keyword_id}&mention=${mention.event_id}`);
    await page.getByRole('heading', { name: 'A mirror' }).waitFor();
    expect(await directionsOf(page, 'plain_handle')).toEqual([true, true]);
    // A title of which nothing can be seen is none.
    await page.getByRole('button', { name: 'Seen.' }).waitFor();
    await open(`keywords/${keyword_id}`);
    const authors = page.getByRole('region', { name: 'Top authors' });
    await authors.getByText('plain_handle').waitFor();
    expect(new Set(await directionsOf(page, 'Hacker News'))).toEqual(new Set([true]));
    await open('digests');
    await page.getByText(`${REVERSED}room`).first().waitFor();
    expect(await directionsOf(page, 'every day at 09:00')).not.toContain(false);
  }, 90_000);

  it('sees a price in a currency that does not exist as it came', async () => {
    await observe(clickhouse, [observation(accountId, { listing_id: '9', currency: '<b>', price: '7.00' })]);
    await open('vinted?item=9');
    await page.getByRole('row', { name: /7 <b> – First seen/ }).waitFor();
  }, 60_000);

  it('sees each mention once after a break in which 2,100 came', async () => {
    const { id: keywordId, watches } = await call(
      ...([page, 'POST', '/v1/keywords', sleepingKeyword('Crowd', 'crowd')] as const),
    );
    const owner = { accountId, keywordId, watchId: watches[0].id as string };
    const { natsUrl } = stage.stage.stores;
    const titles = (count: number) => Array.from({ length: count }, (_, n) => `Crowd ${n + 1} of ${count}`);
    await publishMentions(natsUrl, owner, titles(1));
    const written = async () => {
      const sql = `SELECT uniqExact(event_id) AS n FROM mentions WHERE keyword_id = {keywordId: UUID}`;
      return Number((await selectRows<{ n: string }>(clickhouse, sql, { keywordId }))[0]?.n);
    };
    await until('the first is written', async () => (await written()) === 1);
    await page.route('**/v1/stream*', (route) => route.abort());
    await open(`feed?keyword=${keywordId}`);
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    await publishMentions(natsUrl, owner, titles(2100));
    await until('the others are written', async () => (await written()) === 2101);
    await page.unroute('**/v1/stream*');
    const row = page.getByRole('article');
    await until(
      'the list is whole, and the oldest mention at its end',
      async () => {
        await page.evaluate(
          `{ const feed = document.querySelector('[role=feed]'); feed.scrollTop = feed.scrollHeight; }`,
        );
        const last = row.last();
        if ((await last.getAttribute('aria-setsize')) !== '2101') return false;
        return (await last.innerText()).includes('Crowd 1 of 1');
      },
      60_000,
    );
    await page.getByText('Live', { exact: true }).waitFor();
  }, 120_000);

  async function addChannel(
    kind: string,
    name: string,
    fill: (dialog: ReturnType<Page['getByRole']>) => Promise<void>,
  ) {
    await page.getByRole('button', { name: 'Add a channel' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add a channel' });
    await dialog.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: kind }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
    await fill(dialog);
    await dialog.getByRole('button', { name: 'Add the channel' }).click();
    await dialog.waitFor({ state: 'detached' });
  }
});
