import { request } from 'undici';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let secondUrl: string;
let ada: Tenant;
let database: Database;

beforeAll(async () => {
  service = await startInterface();
  secondUrl = await service.anotherGateway();
  ada = await service.tenant();
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await service?.stop();
});

async function post(path: string, key: string, body: unknown, url = service.url) {
  const answer = await request(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ada.api.apiKey, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    text,
    id: (JSON.parse(text) as { id?: string }).id,
    isReplay: answer.headers['idempotency-replayed'] === 'true',
  };
}

const watchBody = (query: string) => ({ criteria: { query }, refresh_interval_seconds: 600 });

/**
 * Sets the record of the key to the state after a 503 for a command that took effect: the record has no outcome, and no
 * gateway runs the request.
 */
const loseOutcomeOf = (key: string) =>
  database.query(
    'UPDATE idempotency_records SET status = NULL, body = NULL, running_until = NULL WHERE key = $1',
    [key],
  );

describe('a POST with an Idempotency-Key', () => {
  it('creates one keyword if it is sent a hundred times at the same time to two gateways [requests.key-running, limits.key-replay]', async () => {
    const key = newId();
    const body = keywordBody({ name: key });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => post('/v1/keywords', key, body, n % 2 ? service.url : secondUrl)),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([made.length + refused.length, made.filter(({ isReplay }) => !isReplay).length]).toEqual([100, 1]);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect((await ada.api.get(`/v1/keywords?q=${key}`)).body.data.length).toBe(1);
    const replay = await post('/v1/keywords', key, body, secondUrl);
    expect(replay).toEqual({ status: 201, text: made[0]?.text, id: made[0]?.id, isReplay: true });
  });

  it('has one effect if it is repeated because its answer was lost', async () => {
    const key = newId();
    const first = await post('/v1/hackernews/watches', key, watchBody(key));
    await loseOutcomeOf(key);
    const again = await post('/v1/hackernews/watches', key, watchBody(key), secondUrl);
    expect([again.status, again.id, again.isReplay]).toEqual([201, first.id, false]);
    expect((await post('/v1/hackernews/watches', key, watchBody(key))).isReplay).toBe(true);
    const watches = (await ada.api.get('/v1/hackernews/watches')).body.watches as { criteria: object }[];
    expect(watches.filter(({ criteria }) => JSON.stringify(criteria).includes(key)).length).toBe(1);
  });

  it('creates one saved view if it is repeated because its answer was lost', async () => {
    const key = newId();
    const body = { name: key, query: 'source=reddit' };
    const first = await post('/v1/views', key, body);
    await loseOutcomeOf(key);
    const again = await post('/v1/views', key, body, secondUrl);
    expect([again.status, again.text, again.isReplay]).toEqual([201, first.text, false]);
    const views = (await ada.api.get('/v1/views')).body.data as { name: string }[];
    expect(views.filter(({ name }) => name === key).length).toBe(1);
  });

  it('gets the stored refusal if its body was refused before [requests.key-stored]', async () => {
    const key = newId();
    const first = await post('/v1/keywords', key, { name: '' });
    const again = await post('/v1/keywords', key, { name: '' });
    expect([first.status, again]).toEqual([400, { ...first, isReplay: true }]);
  });

  it('succeeds with the same key after a conflict (409) has ended', async () => {
    const body = watchBody('conflicting');
    const watch = (await ada.api.post('/v1/hackernews/watches', body)).body.id as string;
    const key = newId();
    expect((await post('/v1/hackernews/watches', key, body)).status).toBe(409);
    await ada.api.delete(`/v1/hackernews/watches/${watch}`);
    expect((await post('/v1/hackernews/watches', key, body)).status).toBe(201);
  });

  it('is refused with 422 if the account, but not another account, has used the key for another endpoint [requests.key-other-endpoint, requests.key-account]', async () => {
    const key = newId();
    const body = keywordBody({ name: key });
    const first = await post('/v1/keywords', key, body);
    expect((await post('/v1/queries', key, body)).status).toBe(422);
    const bob = await service.tenant();
    const answer = await request(`${service.url}/v1/keywords`, {
      method: 'POST',
      headers: { 'x-api-key': bob.api.apiKey, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    });
    const made = (await answer.body.json()) as { id: string };
    expect(answer.statusCode).toBe(201);
    expect(made.id).not.toBe(first.id);
  });
});
