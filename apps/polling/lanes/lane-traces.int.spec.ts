import { continueTrace, createLogger, startTracing, stopTracing } from '#telemetry';
import { startCollector, until, type OtlpCollector } from '#testing';
import { openPollingStores, Upstream, workerOn, type PollingStores } from '../testing/polling-under-test.js';
import type { LaneWorker } from './lane-worker.js';

const traceId = (digit: string) => digit.repeat(32);
const request = (digit: string, flags: '00' | '01') => `00-${traceId(digit)}-${digit.repeat(16)}-${flags}`;

let collector: OtlpCollector;
let stores: PollingStores;
let worker: LaneWorker;

beforeAll(async () => {
  [collector, stores] = await Promise.all([startCollector(), openPollingStores()]);
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: 0,
  };
  startTracing('spec', settings, createLogger('spec', 'silent'));
  worker = workerOn(new Upstream(), stores).worker;
  worker.start();
});
afterAll(async () => {
  await worker?.stop();
  await stopTracing();
  await stores?.drop();
  await collector?.close();
});

/** Returns a watch that was created by a request. */
const watchOf = (traceparent: string | undefined) => continueTrace(traceparent, () => stores.watch());

/**
 * Waits until each watch has this number of checks. Returns the id and flags of the last check's trace for each watch.
 */
async function tracesOf(watchIds: readonly string[], checks: number): Promise<(string | undefined)[][]> {
  const ids = [];
  for (const watchId of watchIds) {
    await until('it is checked', async () => (await stores.checksOf(watchId)).length === checks);
    const subject = { last_by_subj: `checks.*.${watchId}` };
    const stored = await stores.bus.jsm.direct.getMessage('CHECKS', subject);
    const [, id, , flags] = stored?.header.get('traceparent').split('-') ?? [];
    ids.push([id, flags]);
  }
  return ids;
}

describe('the first check of a watch', () => {
  it('belongs to the trace of the request that created the watch, if that trace is recorded', async () => {
    const watches = [
      await watchOf(request('a', '01')),
      await watchOf(request('b', '01')),
      await watchOf(request('c', '00')),
      await watchOf(undefined),
    ];
    await stores.due(...watches);
    const [first, second, ...others] = await tracesOf(watches, 1);
    expect([first, second]).toEqual([
      [traceId('a'), '01'],
      [traceId('b'), '01'],
    ]);
    const [read] = await until(
      'the read is exported',
      () => {
        const found = collector.spans.filter(({ name }) => name === 'read hackernews');
        return found.length > 0 && found;
      },
      15_000,
    );
    expect(read?.parentSpanId).toBeUndefined();
    expect(read?.links?.map((link) => link.traceId).sort()).toEqual([traceId('a'), traceId('b')]);
    expect(others).toEqual([
      [read?.traceId, '01'],
      [read?.traceId, '01'],
    ]);
    const parts = collector.spans.filter(({ name }) => name === 'check hackernews');
    expect(parts.map((part) => part.links?.[0]?.spanId)).toEqual([read?.spanId, read?.spanId]);
  }, 40_000);

  it('is the only check in the trace of the request, because each later read begins its own trace', async () => {
    const watchId = await watchOf(request('d', '01'));
    await stores.due(watchId);
    expect(await tracesOf([watchId], 1)).toEqual([[traceId('d'), '01']]);
    await until('the tables have followed', async () => {
      const rows = await stores.database.query<unknown[]>(
        'SELECT 1 FROM watch_schedule WHERE watch_id = $1 AND covered_until IS NOT NULL AND traceparent IS NULL',
        [watchId],
      );
      return rows.length === 1;
    });
    await stores.due(watchId);
    const [later] = await tracesOf([watchId], 2);
    expect(later?.[0]).not.toBe(traceId('d'));
    expect(later?.[1]).toBe('00');
  }, 40_000);
});
