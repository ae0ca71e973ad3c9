import { monitorEventLoopDelay } from 'node:perf_hooks';
import { meter } from './meter.js';

/** Node measures the interval between two timer events, so the lag of an idle process is about this value. */
const LAG_RESOLUTION_MS = 10;

/** Publishes the processor time, memory and event loop lag of this process. */
export function publishProcessMetrics(): void {
  meter
    .createObservableCounter('process_cpu_seconds_total', { description: 'Processor time, user and system' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe((user + system) / 1e6);
    });
  meter
    .createObservableGauge('process_resident_memory_bytes', { description: 'Resident memory' })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  meter
    .createObservableGauge('nodejs_heap_size_used_bytes', {
      description: 'Used part of the heap of V8, including garbage that is not collected yet',
    })
    .addCallback((result) => result.observe(process.memoryUsage().heapUsed));
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  meter
    .createObservableGauge('nodejs_eventloop_lag_p99_seconds', {
      description: '99th percentile of the event loop lag since the last scrape; at least 0.01',
    })
    .addCallback((result) => {
      result.observe(lag.percentile(99) / 1e9);
      lag.reset();
    });
}
