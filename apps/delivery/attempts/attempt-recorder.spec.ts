import type { EventStore } from '#event-store';
import type { Database } from '#postgres';
import { createLogger } from '#telemetry';
import { AttemptRecorder, type ChannelFaults } from './attempt-recorder.js';
import type { AttemptResult } from './delivery.js';

const log = createLogger('spec', 'silent');

/** Returns an attempt that a stop of the process interrupted. */
const interrupted = (pending: boolean): AttemptResult => ({
  delivery: {
    eventId: '0d4c1a2e-0000-4000-8000-000000000001',
    accountId: '0d4c1a2e-0000-4000-8000-000000000002',
    watchId: '0d4c1a2e-0000-4000-8000-000000000003',
    keywordId: '',
    source: 'rss',
    endpoint: 'http://receiver.example.org/',
    body: new Uint8Array(),
    signing: { secrets: [], legacy: false },
    target: { kind: 'webhook', id: '' },
    attempts: 0,
    firstAt: 0,
    failingSince: undefined,
    pending,
  },
  at: 0,
  durationMs: 0,
  statusCode: 0,
  delivered: false,
  message: 'closed',
});

it('attempts that a shutdown interrupts are not recorded; such an attempt causes an error if it has no row for a retry', async () => {
  // There are no stores, so every write fails.
  const recorder = new AttemptRecorder({} as Database, {} as EventStore, {} as ChannelFaults, log);
  recorder.close();
  await recorder.record([]);
  await recorder.record([interrupted(true)]);
  await expect(recorder.record([interrupted(true), interrupted(false)])).rejects.toThrow(
    'interrupted by the stop',
  );
});
