import Fastify from 'fastify';
import { request } from 'undici';
import { createLogger, currentTrace, startTracing, stopTracing } from '#telemetry';
import { startCollector, until, type OtlpCollector } from '#testing';
import { trackRequests } from './request-context.js';

const log = createLogger('spec', 'silent');
const caller = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
const headers = { traceparent: `00-${caller.traceId}-${caller.spanId}-01` };

let collector: OtlpCollector;
beforeAll(async () => {
  collector = await startCollector();
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    // The ratio of recorded traces. Trace ids are random, so about half of the requests are recorded.
    OTEL_TRACES_SAMPLER_ARG: 0.5,
  };
  startTracing('spec', settings, log);
});
afterAll(async () => {
  await stopTracing();
  await collector?.close();
});

/** Sends requests whose callers ask for recording. @returns the trace ids of the requests */
async function requests(path: string, count: number, trustsCallers: boolean): Promise<string[]> {
  const fastify = Fastify();
  trackRequests(fastify, log, trustsCallers);
  fastify.get(path, async () => currentTrace()?.traceId);
  const ids = [];
  for (let n = 0; n < count; n += 1) ids.push((await fastify.inject({ url: path, headers })).body);
  await fastify.close();
  return ids;
}

const spansOf = (path: string) => collector.spans.filter(({ name }) => name === `GET ${path}`);

it('a request whose connection times out without a response counts as 503 in its span', async () => {
  const fastify = Fastify({ connectionTimeout: 100 });
  trackRequests(fastify, log, true);
  fastify.get('/late', () => new Promise(() => undefined));
  const url = await fastify.listen({ port: 0, host: '127.0.0.1' });
  const answer = request(`${url}/late`, { headers }).catch(() => undefined);
  const [span] = await until('it is exported', () => spansOf('/late').length > 0 && spansOf('/late'), 15_000);
  expect(span?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 503 } });
  fastify.server.closeAllConnections();
  await answer;
  await fastify.close();
}, 30_000);

describe('a request with a traceparent', () => {
  it('begins a new trace with a link to the caller’s trace if callers are not trusted', async () => {
    const ids = await requests('/stranger', 64, false);
    expect(new Set(ids).size).toBe(64);
    expect(ids).not.toContain(caller.traceId);
    const spans = await until(
      'some are exported',
      () => spansOf('/stranger').length > 0 && spansOf('/stranger'),
      15_000,
    );
    expect(spans.length).toBeLessThan(64);
    for (const span of spans) expect([span.parentSpanId, span.links]).toMatchObject([undefined, [caller]]);
  }, 30_000);

  it('belongs to the trace of the caller if callers are trusted', async () => {
    expect(await requests('/own', 3, true)).toEqual(Array(3).fill(caller.traceId));
    const spans = await until(
      'all are exported',
      () => spansOf('/own').length === 3 && spansOf('/own'),
      15_000,
    );
    for (const span of spans) expect(span.parentSpanId).toBe(caller.spanId);
  }, 30_000);
});
