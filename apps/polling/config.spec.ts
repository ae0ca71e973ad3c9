import { SettingsError } from '#config';
import { readPollingConfig } from './config.js';

const env = { NATS_URL: 'nats://n', DATABASE_URL: 'postgres://d', CLICKHOUSE_URL: 'http://c' };

it('the numbers of lanes are read at the start, and the error for a wrong number names its setting', () => {
  const { lanesOf } = readPollingConfig({ ...env, SOURCE_RSS_LANES: '4' });
  expect([lanesOf('rss'), lanesOf('reddit')]).toEqual([4, 1]);
  for (const wrong of ['0', '65', '1.5', 'many']) {
    const read = () => readPollingConfig({ ...env, SOURCE_RSS_LANES: wrong });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(/^Settings are wrong:\n {2}SOURCE_RSS_LANES: must be a whole number from 1 to 64$/);
  }
});
