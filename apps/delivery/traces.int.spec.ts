import type { RunningService } from '#platform';
import { stopTracing } from '#telemetry';
import { startCollector, until, type ExportedSpan, type OtlpCollector } from '#testing';
import {
  receivedRequests,
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

let collector: OtlpCollector;
let delivery: DeliveryUnderTest;
let receiver: Receiver;
let service: RunningService;

beforeAll(async () => {
  [collector, delivery, receiver] = await Promise.all([startCollector(), openDelivery(), startReceiver()]);
  // Delivery begins no traces: it records a trace only if the sender of the event records it.
  service = await delivery.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
});
afterAll(async () => {
  await receiver?.close();
  await service?.stop();
  await delivery?.drop();
  await stopTracing();
  await collector?.close();
});

const traceId = (digit: string) => digit.repeat(32);
const sentBy = (digit: string, isRecorded = true) =>
  `00-${traceId(digit)}-${digit.repeat(16)}-${isRecorded ? '01' : '00'}`;
const requestsOf = (digit: string): ExportedSpan[] =>
  collector.spans.filter((span) => span.name === 'POST' && span.traceId === traceId(digit));

describe('the requests to an endpoint', () => {
  it('belong to the trace of their own event, although the events came in one batch', async () => {
    const watchId = await delivery.watch(`${receiver.url}/own`);
    await delivery.events(watchId, [sentBy('1'), sentBy('2', false), sentBy('3'), sentBy('4', false)]);
    await receivedRequests(receiver, '/own', 4);
    await until('both are exported', () => requestsOf('1').length > 0 && requestsOf('3').length > 0);
    const posts = collector.spans.filter(({ name }) => name === 'POST');
    expect(posts.map((span) => span.traceId).sort()).toEqual([traceId('1'), traceId('3')]);
  }, 30_000);

  it('belong to the trace of the event even if they are repeated later', async () => {
    receiver.answers.set('/later', { status: 500 });
    const watchId = await delivery.watch(`${receiver.url}/later`);
    const [recorded, other] = await delivery.events(watchId, [sentBy('5'), sentBy('6', false)]);
    for (const one of [recorded, other])
      await until(
        'the first attempt has failed',
        async () => (await delivery.pending(one ?? ''))?.attempts === 1,
      );
    receiver.answers.delete('/later');
    await delivery.makeDue();
    await receivedRequests(receiver, '/later', 4);
    await until('both attempts are exported', () => requestsOf('5').length === 2, 15_000);
    const [first, second] = requestsOf('5');
    expect(second?.parentSpanId).toBe(first?.parentSpanId);
    // The record of the second attempt also belongs to the trace.
    const published = () =>
      collector.spans.filter(({ name, traceId: id }) => name === 'publish ATTEMPTS' && id === traceId('5'));
    await until('both records are exported', () => published().length === 2, 15_000);
    expect(collector.spans.some((span) => span.traceId === traceId('6'))).toBe(false);
  }, 40_000);
});
