import { spawn } from 'node:child_process';
import { create, toBinary } from '@bufbuild/protobuf';
import { insertRows } from '#clickhouse';
import { createClient, EarshotError, type Client } from '#client';
import { EventSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';
import { CLI, cli, envOf } from './cli-under-test.js';
import { keywordFileTasks } from './keyword-file-tasks.js';

let service: InterfaceUnderTest;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
}, 60_000);
afterAll(async () => {
  await bus?.close();
  await service?.stop();
});

const clientOf = ({ api }: Tenant): Client => createClient({ baseUrl: service.url, apiKey: api.apiKey });

/** Publishes a new mention as an installation does: its event, then its row. @returns the id of the event */
async function publish({ accountId }: Tenant, text: string): Promise<string> {
  const [eventId, watchId, occurredAt] = [newId(), newId(), new Date().toISOString()];
  const event = create(EventSchema, {
    ...{ accountId, watchId, eventId, occurredAt, source: 'hackernews', type: 'hn_item.created' },
    matched: { item: { itemId: eventId, text, bodyJson: '{}' } },
  });
  await new EventStore(bus).publish(
    subjectOf('EVENTS', accountId, watchId),
    toBinary(EventSchema, event),
    eventId,
  );
  const row = mentionRow(accountId, {
    occurred_at: occurredAt.replace('T', ' ').replace('Z', ''),
    event_id: eventId,
    watch_id: watchId,
    title: text,
  });
  await insertRows(service.clickhouse, 'mentions', [row]);
  return eventId;
}

describe('the client', () => {
  it('creates, changes, lists page by page and deletes keywords of a running gateway', async () => {
    const client = clientOf(await service.tenant());
    const made: string[] = [];
    for (const name of ['One', 'Two', 'Three'])
      made.push((await client.post('/v1/keywords', { body: keywordBody({ name }) as never })).id);
    const found = [];
    for await (const { name } of client.paginate('/v1/keywords', { query: { limit: 2 } })) found.push(name);
    expect(found).toEqual(['Three', 'Two', 'One']);
    const path = { id: made[0] ?? '' };
    const changed = await client.patch('/v1/queries/{id}', { path, body: { name: 'Uno' } });
    expect(changed).toMatchObject({ name: 'Uno', resetSearches: [] });
    await client.delete('/v1/keywords/{id}', { path });
    expect((await client.get('/v1/keywords/{id}', { path })).state).toBe('retired');
  });

  it('gets the stored answer if it repeats a POST with the same idempotency key', async () => {
    const client = clientOf(await service.tenant());
    const call = { body: keywordBody() as never, idempotencyKey: newId() };
    const [first, second] = [
      await client.post('/v1/keywords', call),
      await client.post('/v1/keywords', call),
    ];
    expect(second.id).toBe(first.id);
  });

  it('throws typed errors with the faults and the id of the request', async () => {
    const client = clientOf(await service.tenant());
    const error: unknown = await client
      .post('/v1/keywords', { body: { name: '' } as never })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EarshotError);
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION', requestId: expect.any(String) });
    expect((error as EarshotError).details.map(({ path }) => path)).toContain('sources');
    const withWrongKey = createClient({ baseUrl: service.url, apiKey: 'ek_wrong' });
    await expect(withWrongKey.get('/v1/account')).rejects.toMatchObject({
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  it('streams new mentions, and continues after the last received mention', async () => {
    const ada = await service.tenant();
    const client = clientOf(ada);
    const stop = new AbortController();
    const stream = client.stream({ source: 'hackernews' }, { signal: stop.signal });
    const first = stream.next();
    // The stream is possibly not open yet, so the test publishes mentions until one arrives.
    let id = '';
    const seen = await until('the first mention arrives', async () => {
      id = await publish(ada, 'Acme');
      return Promise.race([first, new Promise<undefined>((resolve) => setTimeout(resolve, 500, undefined))]);
    });
    expect(seen.value?.mention.source).toBe('hackernews');
    stop.abort();
    const missed = await publish(ada, 'While nobody listened');
    const again = client.stream({}, { lastEventId: seen.value?.id ?? '' });
    const ids: string[] = [];
    for await (const { mention } of again) {
      ids.push(mention.id);
      if (mention.id === missed) break;
    }
    expect(ids).toContain(missed);
    expect(id).not.toBe('');
  }, 40_000);
});

describe('mentions tail', () => {
  it('prints mentions as they arrive, without the control characters of posts, and exits with code 0 after SIGTERM', async () => {
    const ada = await service.tenant();
    const child = spawn(process.execPath, [CLI, 'mentions', 'tail'], { env: envOf(service, ada) });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
    await until('a mention is printed', async () => {
      await publish(ada, 'Acme\u001b[2J wins');
      await new Promise((resolve) => setTimeout(resolve, 300));
      return out.includes('\n');
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(out).toContain('Acme [2J wins');
    expect(out).not.toContain('\u001b');
  }, 40_000);

  it('names a missing setting, and reports a key that is refused', async () => {
    const { EARSHOT_API_KEY: _, ...env } = envOf(service, await service.tenant());
    expect(await cli(env, 'mentions', 'tail')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('EARSHOT_API_KEY'),
    });
    const wrong = await cli({ ...env, EARSHOT_API_KEY: 'ek_wrong' }, 'mentions', 'tail');
    expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining('not valid') });
  });
});

keywordFileTasks(() => service);
