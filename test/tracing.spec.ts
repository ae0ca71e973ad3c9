import {
  startCollector,
  startProgram,
  until,
  type ExportedSpan,
  type OtlpCollector,
  type Program,
} from '#testing';
import { setStage, watchKeyword, openCustomer, type Customer, type Stage } from './scenario.js';

let collector: OtlpCollector;
let stage: Stage;
let program: Program;
let customer: Customer;

beforeAll(async () => {
  collector = await startCollector();
  stage = await setStage({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'always_on',
    TRUST_TRACEPARENT: 'true',
  });
  program = await startProgram('earshot', stage.env);
  customer = await openCustomer(stage, program.url);
}, 90_000);
afterAll(async () => {
  await program?.stop();
  await stage?.close();
  await collector?.close();
});

const keyword = (hook: string, more: object = {}) => ({
  name: hook,
  refresh_interval_seconds: 1,
  global_criteria: { market: 'global', query: hook },
  sources: [{ source: 'hackernews', enabled: true }],
  webhook_url: `${stage.simulator.url}/hooks/${hook}`,
  ...more,
});

const publish = (word: string) =>
  stage.simulator.world.publish('hackernews', { title: `A ${word}`, text: `My ${word} sings` });

const delivered = (hook: string) =>
  until(`${hook} is delivered`, () => stage.simulator.receiver.deliveries(hook).length > 0, 30_000);

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);

/** Waits until one trace has all these spans. @returns all its spans */
function traceWith(...names: string[]): Promise<ExportedSpan[]> {
  return until(
    `one trace has ${names.join(', ')}`,
    () => {
      const traces = new Set(collector.spans.map(({ traceId }) => traceId));
      for (const traceId of traces) {
        const spans = spansOf(traceId);
        if (names.every((name) => spans.some((span) => span.name === name))) return spans;
      }
      return undefined;
    },
    30_000,
  );
}

/**
 * Returns the names of the spans on the path from the root of the trace to the first span with this name.
 * `process messages` becomes `process`, because the number of messages in a batch varies.
 */
function pathTo(name: string, spans: readonly ExportedSpan[]): string[] {
  const path: string[] = [];
  for (let at = spans.find((span) => span.name === name); at;) {
    path.unshift(at.name.replace('process messages', 'process'));
    const { parentSpanId } = at;
    at = spans.find(({ spanId }) => spanId === parentSpanId);
  }
  return path;
}

const TO_WEBHOOK = ['publish EVENTS', 'process delivery', 'POST'];

describe('one trace', () => {
  it('leads from the request that creates a keyword through the first read of the upstream to the mention', async () => {
    publish('kettle');
    const headers = { traceparent: `00-${'7'.repeat(32)}-${'8'.repeat(16)}-01` };
    const made = await customer.api.post('/v1/keywords', keyword('kettle', { backfill: true }), headers);
    expect(made.status).toBe(201);
    const spans = await traceWith('POST /v1/keywords', 'GET', 'process mentions-sink-v1', 'insert');
    expect(spans[0]).toMatchObject({ traceId: '7'.repeat(32), service: 'earshot' });
    const read = [
      'POST /v1/keywords',
      'commands.keywords.create-keyword',
      'commands.keywords.create-keyword',
      'publish KEYWORDS',
      'process projection-schedule-v1',
      'read hackernews',
    ];
    expect(pathTo('GET', spans)).toEqual([...read, 'GET']);
    expect(pathTo('process mentions-sink-v1', spans)).toEqual([
      ...read,
      'publish CHECKS',
      'process analysis-events',
      'publish EVENTS',
      'process mentions-sink-v1',
    ]);
    expect(pathTo('INSERT', spans)).toContain('POST /v1/keywords');
    expect((await customer.api.delete(`/v1/keywords/${made.body.id}`)).status).toBeLessThan(300);
  }, 60_000);

  it('leads from the request that pauses a keyword to the webhook', async () => {
    const made = await watchKeyword(customer.api, keyword('whistle', { webhook_events: ['keyword.paused'] }));
    await customer.api.post(`/v1/keywords/${made.id}/pause`, {});
    await delivered('whistle');
    const spans = await traceWith('POST /v1/keywords/:id/pause', 'POST');
    expect(pathTo('POST', spans)).toEqual([
      'POST /v1/keywords/:id/pause',
      'commands.keywords.pause-keyword',
      'commands.keywords.pause-keyword',
      'publish KEYWORDS',
      'process analysis-keyword-events',
      ...TO_WEBHOOK,
    ]);
  }, 60_000);

  it('begins with a later read of the upstream, and leads to the webhook', async () => {
    await watchKeyword(customer.api, keyword('teapot'));
    publish('teapot');
    await delivered('teapot');
    const spans = await until(
      'a trace that begins with a read leads to the webhook',
      () =>
        collector.spans
          .filter(({ name, parentSpanId }) => name === 'read hackernews' && parentSpanId === undefined)
          .map(({ traceId }) => spansOf(traceId))
          .find((found) =>
            ['POST', 'process mentions-sink-v1', 'insert'].every((name) =>
              found.some((span) => span.name === name),
            ),
          ),
      30_000,
    );
    expect(pathTo('POST', spans)).toEqual([
      'read hackernews',
      'publish CHECKS',
      'process analysis-events',
      ...TO_WEBHOOK,
    ]);
    expect(pathTo('GET', spans)).toEqual(['read hackernews', 'GET']);
    expect(pathTo('process mentions-sink-v1', spans)).toContain('publish EVENTS');
    expect(spans.some(({ name }) => name === 'SELECT')).toBe(true);
  }, 60_000);
});
