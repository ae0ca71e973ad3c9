import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from './logger.js';
import { arriveWith, currentTrace, inSpan, SpanKind } from './trace.js';
import { startTracing, stopTracing } from './tracing.js';

interface ExportedSpan {
  traceId: string;
  parentSpanId?: string;
  name: string;
  links?: { traceId: string }[];
  status: { code?: number };
}

describe('tracing', () => {
  it('exports the spans of recorded traces, with a link for each other message of a batch', async () => {
    const exported: ExportedSpan[] = [];
    const collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[];
        };
        exported.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap(({ spans }) => spans)));
        response.end('{}');
      });
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 0,
    };
    startTracing('test', settings, createLogger('test', 'silent'));

    const one = `00-${'a'.repeat(32)}-${'1'.repeat(16)}-01`;
    const other = `00-${'b'.repeat(32)}-${'2'.repeat(16)}-01`;
    const step = () => inSpan('step', SpanKind.CLIENT, {}, async () => currentTrace());
    const arrival = { traceparent: one, batch: [one, other, undefined, one], requestId: 'r' };
    const trace = await arriveWith('batch', SpanKind.CONSUMER, arrival, step);
    expect(trace).toMatchObject({ traceId: 'a'.repeat(32), sampled: true, requestId: 'r' });
    const unrecorded = await arriveWith('unrecorded', SpanKind.SERVER, {}, step);
    expect(unrecorded).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), sampled: false });
    const failing = arriveWith('failing', SpanKind.SERVER, { traceparent: other }, async () => {
      throw new RangeError('a secret');
    });
    await expect(failing).rejects.toThrow('a secret');

    await stopTracing();
    collector.close();
    const named = new Map(exported.map((span) => [span.name, span]));
    expect([...named.keys()].sort()).toEqual(['batch', 'failing', 'step']);
    expect(named.get('batch')).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: '1'.repeat(16) });
    expect(named.get('batch')?.links?.map(({ traceId }) => traceId)).toEqual(['b'.repeat(32)]);
    expect(named.get('step')?.traceId).toBe('a'.repeat(32));
    expect(named.get('failing')?.status.code).toBe(2);
    expect(JSON.stringify(exported)).not.toContain('a secret');
  });
});
