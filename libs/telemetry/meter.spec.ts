import { metrics } from './metrics.js';
import { metricsText } from './meter.js';

async function linesOf(name: string): Promise<string[]> {
  const lines = (await metricsText()).split('\n');
  return lines.filter((line) => line.startsWith(name));
}

describe('the metrics of a process', () => {
  it('keep a counter without labels at 0 until its first event', async () => {
    expect(await linesOf('earshot_quota_outages_total')).toEqual(['earshot_quota_outages_total 0']);
    metrics.quotaOutages.add(2);
    expect(await linesOf('earshot_quota_outages_total')).toEqual(['earshot_quota_outages_total 2']);
  });

  it('end with a removed gauge, whatever the order of its labels', async () => {
    metrics.sourceHealthy.set({ source: 'rss', lane: 'one' }, 1);
    metrics.sourceHealthy.set({ source: 'rss', lane: 'two' }, 0);
    expect(await linesOf('earshot_source_healthy')).toHaveLength(2);
    metrics.sourceHealthy.remove({ lane: 'one', source: 'rss' });
    expect(await linesOf('earshot_source_healthy')).toEqual([
      'earshot_source_healthy{source="rss",lane="two"} 0',
    ]);
  });

  it('keep each of 5,000 series of one metric apart', async () => {
    for (let lane = 0; lane < 5000; lane += 1)
      metrics.checks.add(1, { source: `source ${lane}`, outcome: 'completed' });
    expect(await linesOf('earshot_checks_total')).toHaveLength(5000);
  });

  it('escape quotes, backslashes and line ends in the value of a label', async () => {
    metrics.lookups.add(1, { source: 'x', operation: 'a"b\\c\nd', outcome: 'found' });
    expect(await linesOf('earshot_lookups_total')).toEqual([
      'earshot_lookups_total{source="x",operation="a\\"b\\\\c\\nd",outcome="found"} 1',
    ]);
  });

  it('count requests in cumulative buckets up to +Inf', async () => {
    metrics.httpRequests.record(0.003, { method: 'GET', route: '/', status: '200' });
    metrics.httpRequests.record(99, { method: 'GET', route: '/', status: '200' });
    const counts = (await linesOf('earshot_http_request_duration_seconds_bucket')).map(
      (line) => line.split(' ')[1],
    );
    expect(counts).toEqual(['0', '0', '1', '1', '1', '1', '1', '1', '1', '1', '1', '1', '2']);
  });
});
