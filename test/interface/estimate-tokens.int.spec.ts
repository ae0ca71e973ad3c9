import { request } from 'undici';
import { PRICE_BOOK_VERSION } from '#contracts';
import { SignedText } from '#secrets';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant('growth');
});
afterAll(() => service?.stop());

const estimate = (body: unknown) => ada.api.post('/v1/keywords/estimate', body);

/** Creates a keyword with an estimate token. */
async function createWith(token: string, body: unknown, as = ada, name = 'keywords') {
  const answer = await request(`${service.url}/v1/${name}`, {
    method: 'POST',
    headers: {
      'x-api-key': as.api.apiKey,
      'content-type': 'application/json',
      'service-estimate-token': token,
    },
    body: JSON.stringify(body),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as { code?: string; id?: string } };
}

describe('a create that sends its estimate token', () => {
  const body = { ...keywordBody({ name: 'Held' }), muteRules: ['spam', { value: 'ads', target: 'title' }] };

  it('is accepted with the estimated body, whose keys can have another order and spelling [credits.token]', async () => {
    const { estimateToken } = (await estimate(body)).body;
    const turned = {
      mute_rules: ['spam', { target: 'title', value: 'ads' }],
      sources: [{ enabled: true, source: 'hackernews' }],
      globalCriteria: { query: 'acme', market: 'global' },
      refreshIntervalSeconds: 600,
      name: 'Held',
    };
    expect((await createWith(estimateToken, turned)).status).toBe(201);
  });

  it('is accepted under /v1/queries with changed read-only keys, which are ignored', async () => {
    const read = (await ada.api.post('/v1/keywords', body)).body;
    const { estimateToken } = (await ada.api.post('/v1/queries/estimate', read)).body;
    const later = { ...read, version: 9, watches: [{ ...read.watches[0], lastStatus: 'completed' }] };
    expect(await createWith(estimateToken, later, ada, 'queries')).toMatchObject({ status: 201 });
  });

  it.each<[string, object]>([
    ['another interval', { refresh_interval_seconds: 601 }],
    ['another term', { global_criteria: { market: 'global', query: 'acme!' } }],
    ['an additional key', { backfill: false }],
    ['another order of a list', { muteRules: [{ value: 'ads', target: 'title' }, 'spam'] }],
  ])(
    'is refused with %s: 409 ESTIMATE_MISMATCH [estimate.token-mismatch, credits.token-mismatch, requests.estimate-mismatch]',
    async (_, more) => {
      const { estimateToken } = (await estimate(body)).body;
      const { status, body: answer } = await createWith(estimateToken, { ...body, ...more });
      expect([status, answer.code]).toEqual([409, 'ESTIMATE_MISMATCH']);
    },
  );

  it('is refused with a changed token and with a token of another account [credits.token]', async () => {
    const { estimateToken } = (await estimate(body)).body;
    const forged = `${estimateToken.slice(0, -2)}${estimateToken.endsWith('A') ? 'B' : 'A'}${estimateToken.at(-1)}`;
    expect((await createWith(forged, body)).body.code).toBe('ESTIMATE_MISMATCH');
    for (const other of ['', `${estimateToken}=`, `!${estimateToken}`])
      expect((await createWith(other, body)).status).toBe(409);
    const eve = await service.tenant('growth');
    expect((await createWith(estimateToken, body, eve)).body.code).toBe('ESTIMATE_MISMATCH');
  });

  it('is refused with the token of a change of a keyword, even for the same body: 409 ESTIMATE_MISMATCH [credits.token]', async () => {
    const { id } = (await ada.api.post('/v1/keywords', keywordBody({ name: 'Priced before' }))).body;
    for (const name of ['keywords', 'queries']) {
      const whole = { ...(await ada.api.get(`/v1/keywords/${id}`)).body, name: 'Held' };
      const sent = name === 'queries' ? whole : body;
      const priced = (await ada.api.post(`/v1/${name}/estimate?keyword=${id}`, sent)).body;
      expect(priced.valid).toBe(true);
      expect(await createWith(priced.estimateToken, sent, ada, name)).toMatchObject({
        status: 409,
        body: { code: 'ESTIMATE_MISMATCH' },
      });
    }
  });

  it('is refused with 409 ESTIMATE_EXPIRED if the token is too old or has another price book [requests.estimate-expired, credits.token-15-minutes, credits.token]', async () => {
    const { estimateToken } = (await estimate(body)).body;
    const signed = new SignedText('5e'.repeat(32), 'estimates');
    const scope = { accountId: ada.accountId };
    const priced = signed.read<{ body: string; version: string; until: number }>(scope, estimateToken);
    expect(priced?.version).toBe(PRICE_BOOK_VERSION);
    const old = signed.write(scope, { ...priced, until: Date.now() - 1 });
    expect((await createWith(old, body)).body.code).toBe('ESTIMATE_EXPIRED');
    const other = signed.write(scope, { ...priced, version: '2020-01-01' });
    expect((await createWith(other, body)).body.code).toBe('ESTIMATE_EXPIRED');
  });
});
