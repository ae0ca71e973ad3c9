import { pino } from 'pino';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import { freePort } from '#embedded';
import { startCollector, until, type OtlpCollector } from '#testing';
import { exportingProvider, stopWithin } from './tracing.js';

/** Maximum number of spans in one request to the collector, and in memory. */
const IN_REQUEST = 512;
const MAX_WAITING = 2048;

let collector: OtlpCollector;
let lines: { level: number; msg: string; reason?: string; lostSpans?: number }[];
beforeEach(async () => {
  collector = await startCollector();
  lines = [];
});
afterEach(() => collector?.close());

function providerTo(url: string): TracerProvider {
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_TRACES_SAMPLER_ARG: 1,
  };
  return exportingProvider('spec', settings, pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
}

/** Makes spans. As soon as there are enough spans for one request, they are sent. */
function makeSpans(provider: TracerProvider, count: number): void {
  for (let n = 0; n < count; n += 1) provider.getTracer('spec').startSpan('work').end();
}

describe('a collector', () => {
  it.each([500, 413])(
    'is reported once if it answers %i, and again when it accepts spans',
    async (status) => {
      const provider = providerTo(collector.url);
      collector.status = status;
      for (let n = 1; n <= 3; n += 1) {
        makeSpans(provider, IN_REQUEST);
        await until(`request ${n} is answered`, () => collector.requests === n);
        await until('the spans of the request are lost', () => lines.length === 1);
      }
      expect(lines).toMatchObject([
        {
          msg: expect.stringContaining('cannot be exported'),
          reason: expect.stringContaining(String(status)),
        },
      ]);
      collector.status = 200;
      makeSpans(provider, IN_REQUEST);
      await until('the success is reported', () => lines.length === 2);
      expect(lines[1]).toMatchObject({ msg: 'spans are exported again', lostSpans: 3 * IN_REQUEST });
      await stopWithin(provider, 1000);
    },
  );

  it('is reported with the reason if it is not running, and gets spans when it runs', async () => {
    const port = await freePort();
    const provider = providerTo(`http://127.0.0.1:${port}`);
    makeSpans(provider, IN_REQUEST);
    await until('the failure is reported', () => lines.length === 1, 15_000);
    expect(lines[0]?.reason).toContain('ECONNREFUSED');
    const late = await startCollector(port);
    makeSpans(provider, IN_REQUEST);
    await until('the collector has spans', () => late.spans.length >= IN_REQUEST, 15_000);
    await stopWithin(provider, 1000);
    await late.close();
  }, 40_000);

  it('leaves at most 2,048 spans in memory, and loses further spans, if it does not answer', async () => {
    const provider = providerTo(collector.url);
    collector.status = 0;
    makeSpans(provider, 10 * MAX_WAITING);
    await until('a request is under way', () => collector.requests === 1);
    collector.status = 200;
    await until('the rest is exported', () => collector.spans.length >= MAX_WAITING, 15_000);
    await provider.forceFlush();
    expect(collector.spans).toHaveLength(MAX_WAITING);
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('cannot be exported'),
      'spans are exported again',
    ]);
    await stopWithin(provider, 1000);
  }, 40_000);

  it('does not delay a stop if it never answers', async () => {
    const provider = providerTo(collector.url);
    collector.status = 0;
    makeSpans(provider, 3 * IN_REQUEST);
    // Without a limit, the stop would wait for the collector until the request times out.
    const order: string[] = [];
    const stopped = stopWithin(provider, 100).then(() => order.push('stopped'));
    const given = until('a request has timed out', () => lines.length > 0, 15_000).then(() =>
      order.push('timed out'),
    );
    await Promise.all([stopped, given]);
    expect(order).toEqual(['stopped', 'timed out']);
  }, 40_000);
});
