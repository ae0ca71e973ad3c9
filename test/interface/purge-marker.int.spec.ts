import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { request } from 'undici';
import { selectRows } from '#clickhouse';
import { AttemptSchema, CheckSchema, PRICE_BOOK_VERSION } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, STREAMS, subjectOf, type Bus, type StreamName } from '#messaging';
import type { RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { until, type Json } from '#testing';
import { startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';
import { startServicesWithoutSources } from './services-without-sources.js';

let service: InterfaceUnderTest;
let others: RunningService[] = [];
let ada: Tenant;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  service = await startInterface();
  others = await startServicesWithoutSources(service.stores);
  ada = await service.tenant();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await bus?.close();
  await database?.destroy();
  await service?.stop();
});

const MARKER = 'planted-marker-of-the-purge-4c9e';

/** Sends a POST with an Idempotency-Key, so that its response is stored. @returns the status and the body */
async function postWithKey(path: string, body: object): Promise<{ status: number; body: Json }> {
  const answer = await request(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': ada.api.apiKey,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'idempotency-key': path,
    },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text) };
}

/** Sends a keyword with the marker in every text to a path. @returns the body of the response */
async function createMarkedKeyword(path: string): Promise<Json> {
  const { body } = await postWithKey(path, {
    name: MARKER,
    refresh_interval_seconds: 600,
    global_criteria: { market: 'global', terms: [MARKER, `${MARKER} two`] },
    sources: [{ source: 'hackernews', enabled: true }],
    mute_rules: [MARKER],
    webhook_url: `http://${MARKER}.example.org/`,
  });
  return body;
}

/** Sends requests about the keyword and its mentions whose responses contain the marker, but not the keyword's id. */
async function readMarkedTexts(keywordId: string): Promise<Record<string, { status: number; body: Json }>> {
  const mentions = await ada.api.get(`/v1/mentions?keyword=${keywordId}&include=dropped`);
  const mentionId = mentions.body.data[0].id as string;
  const when = { kind: 'item', all: [{ field: 'text', op: 'contains', value: MARKER }] };
  const rule = {
    name: MARKER,
    enabled: true,
    source: null,
    when,
    then: [{ type: 'mark', label: 'starred' }],
  };
  const params = { name: 'explain_mention', arguments: { id: mentionId } };
  return {
    analysis: await postWithKey('/v1/analyses', { operation: 'summarise', mentionIds: [mentionId] }),
    backtest: await postWithKey(`/v1/keywords/${keywordId}/backtest`, { rules: [rule] }),
    explanation: await postWithKey('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}

/** Publishes a check that found the marker, and an attempt; the event and the mention follow from the check. */
async function publishMarkedFacts(keywordId: string, watchId: string): Promise<void> {
  const { accountId } = ada;
  const store = new EventStore(bus);
  const at = new Date().toISOString();
  const ids = { accountId, watchId, keywordId, source: 'hackernews' };
  const item = {
    itemId: `hn:${MARKER}`,
    source: 'hackernews',
    eventType: 'hn_item.created',
    kind: 'story',
    title: `All about ${MARKER} two`,
    text: MARKER,
    bodyJson: JSON.stringify({ id: MARKER, text: MARKER }),
  };
  const check = create(CheckSchema, {
    ...ids,
    checkId: newId(),
    tick: at,
    finishedAt: at,
    part: 1,
    parts: 1,
    costCredits: 1,
    units: 1,
    rateCredits: 1,
    priceBookVersion: PRICE_BOOK_VERSION,
    items: [{ item, matches: [{ term: MARKER, field: 'text', start: 0, end: 3 }] }],
    observations: [
      { kind: { case: 'answer', value: { engine: 'openai', prompt: MARKER, answeredAt: at, text: MARKER } } },
    ],
  });
  await store.publish(subjectOf('CHECKS', accountId, watchId), toBinary(CheckSchema, check), check.checkId);
  const attempt = create(AttemptSchema, {
    ...ids,
    attemptId: newId(),
    eventId: newId(),
    at,
    message: MARKER,
  });
  await store.publish(
    subjectOf('ATTEMPTS', accountId, watchId),
    toBinary(AttemptSchema, attempt),
    attempt.attemptId,
  );
}

async function inStreams(): Promise<string[]> {
  const found: string[] = [];
  for (const stream of Object.keys(STREAMS) as StreamName[]) {
    const { state } = await bus.jsm.streams.info(stream);
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await bus.jsm.direct.getMessage(stream, { seq }).catch(() => null);
      if (message && Buffer.from(message.data).includes(MARKER)) found.push(`${stream} ${message.subject}`);
    }
  }
  return found;
}

async function inPostgres(): Promise<string[]> {
  const tables: { name: string }[] = await database.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows: { n: number }[] = await database.query(
      `SELECT count(*)::int AS n FROM "${name}" AS t
       WHERE strpos(t::text, $1) > 0 OR strpos(t::text, encode(convert_to($1, 'UTF8'), 'hex')) > 0`,
      [MARKER],
    );
    if (rows[0]?.n) found.push(`postgres ${name}`);
  }
  return found;
}

async function inClickHouse(): Promise<string[]> {
  const columns = await selectRows<{ table: string; name: string }>(
    service.clickhouse,
    `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND type LIKE '%String%'`,
  );
  const found: string[] = [];
  for (const { table, name } of columns) {
    const rows = await selectRows<{ n: string }>(
      service.clickhouse,
      `SELECT count() AS n FROM ${table} WHERE position(toString(${name}), {marker: String}) > 0`,
      { marker: MARKER },
    );
    if (Number(rows[0]?.n) > 0) found.push(`clickhouse ${table}.${name}`);
  }
  return found;
}

/** Returns the files of NATS that still contain the marker. */
function inFiles(): string[] {
  const { natsDirectory } = service.stores;
  return readdirSync(natsDirectory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(MARKER))
    .map((path) => `nats ${path.slice(natsDirectory.length)}`);
}

/** Returns the parts of ClickHouse that no query reads any more, but whose files still exist, each with the reason. */
async function oldParts(): Promise<Map<string, string>> {
  const parts = await selectRows<{ name: string; why: string }>(
    service.clickhouse,
    `SELECT concat('clickhouse part ', table, ' ', name) AS name,
       concat(removal_state, ', references ', toString(refcount), ', removed ', toString(remove_time), ', now ', toString(now())) AS why
     FROM system.parts
     WHERE database = currentDatabase() AND NOT active AND rows > 0`,
  );
  return new Map(parts.map(({ name, why }) => [name, why]));
}

const everywhere = async () =>
  [...(await inStreams()), ...(await inPostgres()), ...(await inClickHouse())].sort();

it('no text of a purged keyword stays in any store, raw files included [keywords.purge, states.purged]', async () => {
  await createMarkedKeyword('/v1/keywords/estimate');
  const { id, watches } = await createMarkedKeyword('/v1/keywords');
  // The PATCH replaces the first watch. The purge must also find the events of this first watch.
  await publishMarkedFacts(id, watches[0].id);
  const changed = await ada.api.patch(`/v1/keywords/${id}`, {
    global_criteria: { market: 'global', query: MARKER },
  });
  await publishMarkedFacts(id, changed.body.watches[0].id);
  await ada.api.post(`/v1/keywords/${id}/pause`, {});
  await until('everything is written', async () => {
    const found = await inClickHouse();
    return found.includes('clickhouse answers.text') && found.includes('clickhouse mentions.text');
  });
  const answers = await readMarkedTexts(id);
  for (const { status, body } of Object.values(answers)) {
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain(MARKER);
    expect(JSON.stringify(body)).not.toContain(id);
  }
  expect(await everywhere()).toEqual(
    expect.arrayContaining([
      `CHECKS checks.${ada.accountId}.${watches[0].id}`,
      `EVENTS events.${ada.accountId}.${watches[0].id}`,
      `KEYWORDS keywords.${ada.accountId}.${id}`,
      'clickhouse answers.text',
      'clickhouse mentions.text',
      'postgres idempotency_records',
      'postgres keywords',
      'postgres watches',
    ]),
  );
  expect((await ada.api.delete(`/v1/keywords/${id}?purge=true`)).status).toBe(204);
  await until('no store contains the marker', async () => (await everywhere()).length === 0, 60_000);
  // Only these old parts can contain the marker, because no query finds it in the active parts. Later merges
  // leave other old parts.
  const parts = await oldParts();
  await until(
    'no file contains the marker',
    async () => {
      const left = [...(await oldParts())].filter(([part]) => parts.has(part));
      const files = [...inFiles(), ...left.map(([part, why]) => `${part} (${why})`)];
      if (files.length > 0) throw new Error(files.join(', '));
      return true;
    },
    240_000,
  );
  // Data that is not the user's text stays: the ledger still has the charges.
  expect((await ada.api.get('/v1/credits')).body.usedThisPeriod).toBe(3);
}, 360_000);
