import { startCollector, until, type ExportedSpan, type OtlpCollector } from '#testing';
import { createLogger } from './logger.js';
import { arriveShared, causeOf, soleCause } from './shared-work.js';
import {
  arriveWith,
  beginSpan,
  continueTrace,
  currentTrace,
  currentTraceparent,
  inSpan,
  SpanKind,
} from './trace.js';
import { startTracing, stopTracing } from './tracing.js';

const recorded = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const unrecorded = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-00`;
const traceOf = (traceparent: string | undefined) => traceparent?.slice(3, 35);
const batchWork = { kind: SpanKind.CONSUMER, partName: 'part' };

let collector: OtlpCollector;
beforeAll(async () => {
  collector = await startCollector();
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: 0,
  };
  startTracing('test', settings, createLogger('test', 'silent'));
});
afterAll(async () => {
  await stopTracing();
  await collector?.close();
});

/** Waits until a span is exported. Spans that ended before this span are exported with it or earlier. */
async function exported(name: string): Promise<ExportedSpan> {
  // Spans are exported when a batch is full, so 512 more spans fill the batch that contains this span.
  await arriveWith('filler', SpanKind.INTERNAL, { traceparent: recorded('f') }, async () => {
    for (let n = 0; n < 512; n += 1) beginSpan('filler', SpanKind.INTERNAL, {})?.end();
  });
  return until(`${name} is exported`, () => collector.spans.find((span) => span.name === name));
}

/** Runs a batch, and returns the step that continues each message's trace, and the batch's own step. */
async function batchOf(name: string, ...causes: (string | undefined)[]) {
  const messages = causes.map((cause) => ({ cause }));
  return arriveShared(
    { name, ...batchWork },
    new Map(messages.map((message) => [message, message.cause])),
    async () => ({ steps: messages.map(causeOf), own: currentTraceparent() }),
  );
}

describe('a step of a trace', () => {
  it('is recorded if its trace is recorded, with the type of an error but not its text', async () => {
    const failing = arriveWith('failing', SpanKind.SERVER, { traceparent: recorded('a') }, async () => {
      await inSpan('step', SpanKind.CLIENT, {}, async () => undefined);
      throw new RangeError('a secret');
    });
    await expect(failing).rejects.toThrow('a secret');
    const span = await exported('failing');
    expect(span).toMatchObject({
      traceId: 'a'.repeat(32),
      parentSpanId: 'a'.repeat(16),
      status: { code: 2 },
    });
    expect((await exported('step')).parentSpanId).toBe(span.spanId);
    expect(JSON.stringify(collector.spans)).not.toContain('a secret');
  });

  it('has ids for the log if its trace is not recorded', async () => {
    const trace = await arriveWith('request', SpanKind.SERVER, { requestId: 'r' }, async () =>
      currentTrace(),
    );
    expect(trace).toEqual({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), requestId: 'r' });
    await exported('filler');
    expect(collector.spans.some(({ name }) => name === 'request')).toBe(false);
  });

  it('does not continue the trace of the caller, and is not recorded, if the caller is not trusted', async () => {
    const arrival = { caller: recorded('a') };
    const running = await arriveWith('stranger', SpanKind.SERVER, arrival, async () => currentTraceparent());
    expect(running).toMatch(/-00$/);
    expect(traceOf(running)).not.toBe('a'.repeat(32));
  });

  it('is continued by later work, also while another trace is running', async () => {
    const within = (running: string, cause: string | undefined) =>
      arriveWith('other', SpanKind.SERVER, { traceparent: running }, async () =>
        continueTrace(cause, () => currentTraceparent()),
      );
    expect(await within(recorded('b'), recorded('a'))).toBe(recorded('a'));
    expect(await within(unrecorded('b'), recorded('a'))).toBe(recorded('a'));
    expect(await within(recorded('b'), unrecorded('a'))).toBe(unrecorded('a'));
    expect(await within(recorded('b'), undefined)).toBeUndefined();
  });
});

describe('a batch', () => {
  it('belongs to the trace of its messages if they all belong to one trace', async () => {
    const { steps, own } = await batchOf('alone', recorded('a'), recorded('a'));
    expect(traceOf(own)).toBe('a'.repeat(32));
    expect(steps).toEqual([own, own]);
    expect(await exported('alone')).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'a'.repeat(16) });
  });

  it('belongs to the only recorded trace of its messages, and the other messages keep their traces', async () => {
    const { steps, own } = await batchOf('one recorded', unrecorded('a'), recorded('b'), unrecorded('c'));
    expect(traceOf(own)).toBe('b'.repeat(32));
    expect(steps).toEqual([unrecorded('a'), own, unrecorded('c')]);
  });

  it('has its own trace if several traces of its messages are recorded, and adds a span to each recorded trace', async () => {
    const { steps, own } = await batchOf(
      'several',
      recorded('a'),
      unrecorded('b'),
      recorded('c'),
      recorded('a'),
    );
    const batch = await exported('several');
    expect([batch.parentSpanId, batch.traceId]).toEqual([undefined, traceOf(own)]);
    expect(batch.links?.map(({ traceId }) => traceId)).toEqual(['a'.repeat(32), 'c'.repeat(32)]);
    expect(steps.map(traceOf)).toEqual(['a', 'b', 'c', 'a'].map((digit) => digit.repeat(32)));
    const parts = collector.spans.filter(({ name }) => name === 'part');
    expect(parts.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([
      ['a'.repeat(32), 'a'.repeat(16)],
      ['c'.repeat(32), 'c'.repeat(16)],
    ]);
    for (const part of parts) expect(part.links).toMatchObject([{ spanId: batch.spanId }]);
    expect(steps[0]).toBe(`00-${parts[0]?.traceId}-${parts[0]?.spanId}-01`);
  });

  it('has its own trace if one of its messages has no trace yet', async () => {
    const { steps, own } = await batchOf('beginning', recorded('a'), undefined);
    expect([traceOf(steps[0]), steps[1]]).toEqual(['a'.repeat(32), own]);
    expect(traceOf(own)).not.toBe('a'.repeat(32));
    expect((await exported('beginning')).links).toMatchObject([{ traceId: 'a'.repeat(32) }]);
  });

  it('is not recorded if none of its traces is recorded', async () => {
    const { steps, own } = await batchOf('unrecorded', unrecorded('a'), unrecorded('b'));
    expect(own).toMatch(/-00$/);
    expect(steps).toEqual([unrecorded('a'), unrecorded('b')]);
  });

  it('links up to 2,000 messages', async () => {
    const causes = Array.from(
      { length: 2000 },
      (_, n) => `00-${(n + 1).toString(16).padStart(32, '0')}-${'1'.repeat(16)}-01`,
    );
    await batchOf('large', ...causes);
    expect((await exported('large')).links).toHaveLength(2000);
  });
});

describe('work that several steps caused together', () => {
  it('continues the only recorded step; if no step is recorded, the first step; if several steps are recorded, no step', () => {
    expect(soleCause([unrecorded('a'), unrecorded('a')])).toBe(unrecorded('a'));
    expect(soleCause([unrecorded('a'), recorded('b')])).toBe(recorded('b'));
    expect(soleCause([unrecorded('a'), unrecorded('b')])).toBe(unrecorded('a'));
    expect(soleCause([recorded('a'), recorded('b')])).toBeUndefined();
  });
});
