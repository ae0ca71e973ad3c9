import { insertRows, type EventRow, type MentionRow } from '#clickhouse';
import { derivedId } from '#kernel';
import type { Json } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';
import { oneMentionTasks } from './one-mention-tasks.js';

let service: InterfaceUnderTest;

beforeAll(async () => {
  service = await startInterface();
});
afterAll(() => service?.stop());

const MINUTE = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();

async function write(rows: MentionRow[]): Promise<MentionRow[]> {
  await insertRows(service.clickhouse, 'mentions', rows);
  return rows;
}

const idsOf = (rows: readonly { event_id: string }[]) => rows.map((row) => row.event_id);
const idsIn = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id);

describe('paging through mentions', () => {
  it('returns every mention exactly once while newer ones arrive and some are stored twice [requests.stable-paging]', async () => {
    const { accountId, api } = await service.tenant();
    // Many rows with the same time, so that the id decides the order.
    const rows = await write(
      Array.from({ length: 23 }, (_, n) =>
        mentionRow(accountId, { occurred_at: ago(10 + Math.floor(n / 8)) }),
      ),
    );
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.get(`/v1/mentions?limit=4${cursor ? `&cursor=${cursor}` : ''}`);
      found.push(...idsIn(page));
      cursor = page.body.nextCursor;
      await write([mentionRow(accountId, { occurred_at: ago(1) }), ...rows.slice(0, 3)]);
    } while (cursor);
    expect([...found].sort()).toEqual(idsOf(rows).sort());
    const newestFirst = (await api.get('/v1/mentions?limit=200')).body.data as {
      occurredAt: string;
      id: string;
    }[];
    const sorted = [...newestFirst].sort((a, b) => (a.occurredAt + a.id < b.occurredAt + b.id ? 1 : -1));
    expect(newestFirst).toEqual(sorted);
  });

  it('skips no mention after a mention that is stored many times', async () => {
    const { accountId, api } = await service.tenant();
    const [repeated, next] = [
      mentionRow(accountId, { occurred_at: ago(1) }),
      mentionRow(accountId, { occurred_at: ago(2) }),
    ];
    // Each in a separate insert: ClickHouse merges duplicates within one insert.
    for (let n = 0; n < 20; n += 1) await write([repeated]);
    await write([next]);
    expect(idsIn(await api.get('/v1/mentions?limit=2'))).toEqual(idsOf([repeated, next]));
    const first = await api.get('/v1/mentions?limit=1');
    expect(idsIn(first)).toEqual([repeated.event_id]);
    const rest = await api.get(`/v1/mentions?limit=1&cursor=${first.body.nextCursor}`);
    expect([idsIn(rest), rest.body.nextCursor]).toEqual([[next.event_id], undefined]);
  });

  it('also returns mentions that arrive between two pages if the oldest come first', async () => {
    const { accountId, api } = await service.tenant();
    const first = await write(
      Array.from({ length: 5 }, (_, n) => mentionRow(accountId, { occurred_at: ago(30 - n) })),
    );
    const page = await api.get('/v1/mentions?order=asc&limit=3');
    const late = await write([mentionRow(accountId, { occurred_at: ago(2) })]);
    const rest = await api.get(`/v1/mentions?order=asc&limit=3&cursor=${page.body.nextCursor}`);
    expect([...idsIn(page), ...idsIn(rest)]).toEqual(idsOf([...first, ...late]));
    expect(rest.body.nextCursor).toBeUndefined();
  });

  it('refuses more than 50 words, and more than 100 values of a filter', async () => {
    const { api } = await service.tenant();
    const faultOf = async (query: string) => {
      const { status, body } = await api.get(`/v1/mentions?${query}`);
      return [status, body.details?.[0]];
    };
    expect(await faultOf(`q=${'a+'.repeat(40)}&q=${'b+'.repeat(11)}`)).toEqual([
      400,
      { path: 'q', message: 'must contain at most 50 words and phrases' },
    ]);
    expect(await faultOf('lang=en&'.repeat(101))).toEqual([
      400,
      { path: 'lang', message: 'can be given at most 100 times' },
    ]);
    expect((await api.get(`/v1/mentions?q=${'a+'.repeat(50)}`)).status).toBe(200);
  });

  it('returns no cursor on the last page, even if the page is full [requests.cursor]', async () => {
    const { accountId, api } = await service.tenant();
    await write([mentionRow(accountId), mentionRow(accountId)]);
    expect((await api.get('/v1/mentions?limit=2')).body.nextCursor).toBeUndefined();
  });

  it('refuses a cursor with other filters, another time range, another order and another account [requests.cursor-bound]', async () => {
    const { accountId, api } = await service.tenant();
    const other = await service.tenant();
    await write([mentionRow(accountId), mentionRow(accountId)]);
    const { nextCursor } = (await api.get('/v1/mentions?limit=1&lang=en')).body;
    expect((await api.get(`/v1/mentions?limit=1&lang=en&cursor=${nextCursor}`)).status).toBe(200);
    for (const query of [
      '',
      '&lang=de',
      '&lang=en&order=asc',
      '&lang=en&since=2026-01-01',
      '&lang=en&lang=de',
    ])
      expect([query, (await api.get(`/v1/mentions?limit=1${query}&cursor=${nextCursor}`)).status]).toEqual([
        query,
        400,
      ]);
    expect((await other.api.get(`/v1/mentions?limit=1&lang=en&cursor=${nextCursor}`)).status).toBe(400);
  });

  it('keeps and returns the time range of the first page on later pages', async () => {
    const { accountId, api } = await service.tenant();
    await write([
      mentionRow(accountId),
      mentionRow(accountId),
      mentionRow(accountId, { occurred_at: ago(24 * 60 + 1) }),
    ]);
    const first = await api.get('/v1/mentions?limit=1');
    const age = Date.now() - Date.parse(first.body.since);
    expect(age).toBeGreaterThanOrEqual(24 * 60 * MINUTE);
    expect(age).toBeLessThan(24 * 60 * MINUTE + 10_000);
    const second = await api.get(`/v1/mentions?limit=1&cursor=${first.body.nextCursor}`);
    expect(second.body.since).toBe(first.body.since);
    expect(second.body.meta).toEqual({ credits_used: 0 });
    expect((await api.all('/v1/mentions?limit=1')).length).toBe(2);
  });
});

describe('the filters of mentions', () => {
  let tenant: Tenant;
  let keywordId: string;
  const rows: Record<string, MentionRow> = {};

  beforeAll(async () => {
    tenant = await service.tenant();
    keywordId = (await tenant.api.post('/v1/keywords', keywordBody())).body.id;
    const row = (more: Partial<MentionRow>) =>
      mentionRow(tenant.accountId, { occurred_at: ago(5), lang: null, author: null, ...more });
    Object.assign(rows, {
      reddit: row({ source: 'reddit', author: 'Grace' }),
      german: row({ lang: 'de', author: 'grace' }),
      happy: row({ sentiment: 'positive', intent: 'praise', bucket: 'b1' }),
      angry: row({ sentiment: 'negative', intent: 'complaint', rules: ['r1', 'r2'] }),
      owned: row({ keyword_id: keywordId, occurred_at: ago(48 * 60) }),
      starred: row({ labels: ['starred'], keyword_id: keywordId }),
      hidden: row({ labels: ['hidden', 'flagged'] }),
      dropped: row({ dropped_reason: 'muted', dropped_rule: 'casino' }),
      quoted: row({ title: 'The "Größe" of it', text: '100% of_all\nacme Corp' }),
    });
    await write(Object.values(rows));
  });

  const names = (ids: readonly string[]) =>
    ids.map((id) => Object.entries(rows).find(([, row]) => row.event_id === id)?.[0] ?? id).sort();
  const day = ['angry', 'german', 'happy', 'quoted', 'reddit', 'starred'];

  it.each([
    ['', day],
    ['source=reddit', ['reddit']],
    ['source=reddit&source=hackernews', day],
    ['source=rss', []],
    ['author=grace', ['german', 'reddit']],
    ['author=grace&author=Grace', ['german', 'reddit']],
    ['author=nobody', []],
    ['lang=de', ['german']],
    ['sentiment=positive', ['happy']],
    ['sentiment=positive&sentiment=negative', ['angry', 'happy']],
    ['sentiment=positive&intent=complaint', []],
    ['intent=praise', ['happy']],
    ['bucket=b1', ['happy']],
    ['rule=r2', ['angry']],
    ['label=starred', ['starred']],
    ['label=flagged', []],
    ['label=hidden', ['hidden']],
    ['include=dropped', [...day, 'dropped'].sort()],
    ['q=GRÖSSE', []],
    ['q=größe', ['quoted']],
    ['q=GRÖẞE&q=gRÖße', ['quoted']],
    ['q=corp%20größe', ['quoted']],
    ['q=corp%20nothing', []],
    ['q=%22acme%20corp%22', ['quoted']],
    ['q=%22corp%20acme%22', []],
    ['q=100%25', ['quoted']],
    ['q=of_all', ['quoted']],
    [`q=${encodeURIComponent("'; DROP TABLE mentions; --")}`, []],
    ['q=', day],
    [`since=${encodeURIComponent(ago(3 * 24 * 60))}`, [...day, 'owned'].sort()],
    [`until=${ago(60)}`, []],
    [`since=${ago(3 * 24 * 60)}&until=${ago(60)}`, ['owned']],
    [`until=${ago(36 * 60)}`, ['owned']],
    [`until=${ago(-36 * 60)}`, day],
    ['until=1969-01-01', []],
  ])('in the query "?%s" find %j [limits.window-mentions]', async (query, expected) => {
    expect(names(idsIn(await tenant.api.get(`/v1/mentions?${query}`)))).toEqual(expected);
  });

  it('find the mentions of a keyword by its id in upper or lower case', async () => {
    expect(names(idsIn(await tenant.api.get(`/v1/mentions?keyword=${keywordId}`)))).toEqual(['starred']);
    expect(names(idsIn(await tenant.api.get(`/v1/mentions?keyword=${keywordId.toUpperCase()}`)))).toEqual([
      'starred',
    ]);
  });

  it('limit the results of a keyword to 30 days [limits.window-results, keywords.results]', async () => {
    for (const name of ['keywords', 'queries']) {
      const answer = await tenant.api.get(`/v1/${name}/${keywordId}/results`);
      expect(names(idsIn(answer))).toEqual(['owned', 'starred']);
      expect(Date.now() - Date.parse(answer.body.since)).toBeGreaterThanOrEqual(30 * 24 * 60 * MINUTE);
    }
  });
});

describe('the events of a watch', () => {
  it('are returned as the stored bytes, oldest first, each once', async () => {
    const { accountId, api } = await service.tenant();
    const body = { criteria: { query: 'lone' }, refresh_interval_seconds: 600 };
    const watchId = (await api.post('/v1/hackernews/watches', body)).body.id;
    const row = (n: number): EventRow => ({
      watch_id: watchId,
      occurred_at: ago(20 - n),
      event_id: derivedId('spec event', String(n), watchId),
      account_id: accountId,
      push: true,
      type: 'hn_item.created',
      stream_seq: 0,
      // Parsing and printing the envelope would change the spaces, the order of keys, and the large number.
      envelope: `{ "occurredAt" : "${ago(20 - n)}",  "item": {"source":"hackernews","id":"${n}","z":1,"a":1.50,"big":12345678901234567890, "text":"\\u00e9 é"},"id":"${derivedId('spec event', String(n), watchId)}", "type":"hn_item.created","watchId":"${watchId}","keywordId":null,"listing":null,"tweet":null,"post":null,"video":null,"article":null,"answer":null,"previousPrice":null,"ai":null }`,
    });
    const rows = [0, 1, 2, 3, 4].map(row);
    await insertRows(service.clickhouse, 'events', [...rows, ...rows]);
    const first = await api.get(`/v1/hackernews/watches/${watchId}/events?limit=2`);
    expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
    const prefix = `{"data":[${rows[0]?.envelope},${rows[1]?.envelope}],"since":"`;
    expect(first.text.slice(0, prefix.length)).toBe(prefix);
    const all = await api.all(`/v1/hackernews/watches/${watchId}/events?limit=2`);
    expect(all.map(({ item }) => item.id)).toEqual(['0', '1', '2', '3', '4']);
    const bounded = await api.get(
      `/v1/hackernews/watches/${watchId}/events?since=${ago(18.5)}&until=${ago(16.5)}`,
    );
    expect(bounded.body.data.map(({ item }: Json) => item.id)).toEqual(['2', '3']);
    expect((await api.get(`/v1/rss/watches/${watchId}/events`)).status).toBe(404);
    await api.delete(`/v1/hackernews/watches/${watchId}`);
    expect((await api.get(`/v1/hackernews/watches/${watchId}/events`)).body.data.length).toBe(5);
  });
});

oneMentionTasks(() => service, write);
