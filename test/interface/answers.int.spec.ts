import { insertRows, NO_ID, type AnswerRow } from '#clickhouse';
import { newId } from '#kernel';
import { keywordBody, startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;

beforeAll(async () => {
  service = await startInterface({ AI_OPENAI_TOKEN: 'token' });
});
afterAll(() => service?.stop());

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

function answer(accountId: string, more: Partial<AnswerRow> = {}): AnswerRow {
  return {
    account_id: accountId,
    keyword_id: NO_ID,
    watch_id: newId(),
    check_id: newId(),
    engine: 'openai',
    model: 'model-1',
    market: 'global',
    prompt: 'Which lamp?',
    answered_at: ago(10),
    text: 'Lumora makes the best lamp; Northwind is cheaper.',
    citations: '[{"url":"https://www.lumora.example/lamps","title":"Lamps"}]',
    queries: ['best lamp'],
    ...more,
  };
}

const promptBody = (brands: string[]) =>
  keywordBody({
    global_criteria: { market: 'global', filters: { prompt: 'Which lamp?', brands } },
    sources: [{ source: 'ai_answers', enabled: true }],
    refresh_interval_seconds: 86_400,
  });

describe('the stored answers of a keyword', () => {
  it('show the brands of the keyword, or the brands that the request names', async () => {
    const { accountId, api } = await service.tenant();
    const keyword = await api.post('/v1/keywords', promptBody(['Lumora']));
    expect(keyword.status).toBe(201);
    const { id, watches } = keyword.body;
    const ids = { keyword_id: id, watch_id: watches[0].id };
    await insertRows(service.clickhouse, 'answers', [answer(accountId, ids)]);
    const { body } = await api.get(`/v1/keywords/${id}/answers`);
    expect(body.data).toMatchObject([
      {
        watchId: watches[0].id,
        engine: 'openai',
        model: 'model-1',
        prompt: 'Which lamp?',
        text: 'Lumora makes the best lamp; Northwind is cheaper.',
        citations: [{ url: 'https://www.lumora.example/lamps', title: 'Lamps' }],
        queries: ['best lamp'],
        brands: [{ brand: 'Lumora', mentioned: true, cited: true, position: 0 }],
      },
    ]);
    const later = await api.get(`/v1/queries/${id}/answers?brand=Northwind&brand=Globex`);
    expect(later.body.data[0].brands).toEqual([
      { brand: 'Northwind', mentioned: true, cited: false, position: 28 },
      { brand: 'Globex', mentioned: false, cited: false, position: null },
    ]);
    const ofWatch = await api.get(`/v1/ai_answers/watches/${watches[0].id}/answers`);
    expect(ofWatch.body.data).toEqual(body.data);
  });

  it('are listed newest first, each once although stored twice, with filters by engine and time', async () => {
    const { accountId, api } = await service.tenant();
    const { id, watches } = (await api.post('/v1/keywords', promptBody(['Lumora']))).body;
    const ids = { keyword_id: id, watch_id: watches[0].id };
    const rows = Array.from({ length: 7 }, (_, n) =>
      answer(accountId, { ...ids, answered_at: ago(n), engine: n % 2 === 0 ? 'openai' : 'gemini' }),
    );
    await insertRows(service.clickhouse, 'answers', rows);
    await insertRows(service.clickhouse, 'answers', rows.slice(2, 5));
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.get(`/v1/keywords/${id}/answers?limit=3${cursor ? `&cursor=${cursor}` : ''}`);
      found.push(...page.body.data.map(({ answeredAt }: { answeredAt: string }) => answeredAt));
      cursor = page.body.nextCursor;
    } while (cursor);
    expect(found).toEqual(rows.map(({ answered_at }) => answered_at));
    const some = await api.get(`/v1/keywords/${id}/answers?engine=gemini&until=${ago(2)}`);
    expect(some.body.data.length).toBe(2);
  });

  it('return 404 for another account, and 400 for an unknown engine', async () => {
    const [one, other] = [await service.tenant(), await service.tenant()];
    const { id, watches } = (await one.api.post('/v1/keywords', promptBody(['Lumora']))).body;
    expect((await other.api.get(`/v1/keywords/${id}/answers`)).status).toBe(404);
    expect((await other.api.get(`/v1/ai_answers/watches/${watches[0].id}/answers`)).status).toBe(404);
    const wrong = await one.api.get(`/v1/keywords/${id}/answers?engine=altavista`);
    expect([wrong.status, wrong.body.details[0].path]).toEqual([400, 'engine']);
  });
});
