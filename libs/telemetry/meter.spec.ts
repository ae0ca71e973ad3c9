import { counterFromZero, metrics } from './metrics.js';
import { metricsText } from './meter.js';

// These labels and names are used only in this file, because other spec files of the process leave series of the same
// metrics.

async function linesOf(begin: string): Promise<string[]> {
  const lines = (await metricsText()).split('\n');
  return lines.filter((line) => line.startsWith(begin));
}

describe('the metrics of a process', () => {
  it('keep a counter without labels at 0 until it is increased', async () => {
    const counter = counterFromZero('earshot_meter_spec_total', 'A counter of this file');
    expect(await linesOf('earshot_meter_spec_total')).toEqual(['earshot_meter_spec_total 0']);
    counter.add(2);
    expect(await linesOf('earshot_meter_spec_total')).toEqual(['earshot_meter_spec_total 2']);
  });

  it('omit a removed series of a gauge, no matter in which order its labels are given', async () => {
    const ours = 'earshot_source_healthy{source="meter-spec"';
    metrics.sourceHealthy.set({ source: 'meter-spec', lane: 'one' }, 1);
    metrics.sourceHealthy.set({ source: 'meter-spec', lane: 'two' }, 0);
    expect(await linesOf(ours)).toHaveLength(2);
    metrics.sourceHealthy.remove({ lane: 'one', source: 'meter-spec' });
    expect(await linesOf(ours)).toEqual(['earshot_source_healthy{source="meter-spec",lane="two"} 0']);
  });

  it('keep 5,000 series of one metric separate', async () => {
    for (let lane = 0; lane < 5000; lane += 1)
      metrics.checks.add(1, { source: `meter-spec ${lane}`, outcome: 'completed' });
    expect(await linesOf('earshot_checks_total{source="meter-spec ')).toHaveLength(5000);
  });

  it('escape quotes, backslashes and line ends in the value of a label', async () => {
    metrics.lookups.add(1, { source: 'meter-spec', operation: 'a"b\\c\nd', outcome: 'found' });
    expect(await linesOf('earshot_lookups_total{source="meter-spec"')).toEqual([
      'earshot_lookups_total{source="meter-spec",operation="a\\"b\\\\c\\nd",outcome="found"} 1',
    ]);
  });

  it('count requests in cumulative buckets up to +Inf', async () => {
    metrics.httpRequests.record(0.003, { method: 'GET', route: '/meter-spec', status: '200' });
    metrics.httpRequests.record(99, { method: 'GET', route: '/meter-spec', status: '200' });
    const counts = (await linesOf('earshot_http_request_duration_seconds_bucket'))
      .filter((line) => line.includes('route="/meter-spec"'))
      .map((line) => line.split(' ')[1]);
    expect(counts).toEqual(['0', '0', '1', '1', '1', '1', '1', '1', '1', '1', '1', '1', '2']);
  });
});
