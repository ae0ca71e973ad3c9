import { startService, type RunningService } from '#platform';
import { programEnv, type IsolatedStores } from '#testing';
import { readAnalysisConfig } from '../../apps/analysis/config.js';
import { analysisService } from '../../apps/analysis/analysis.module.js';
import { readDeliveryConfig } from '../../apps/delivery/config.js';
import { deliveryService } from '../../apps/delivery/delivery.module.js';
import { readPollingConfig } from '../../apps/polling/config.js';
import { pollingService } from '../../apps/polling/polling.module.js';

/**
 * Starts analysis, delivery and polling for tests of the API. Hacker News is disabled, so that only the spec writes
 * data.
 * @param withDelivery false if the spec runs delivery itself
 */
export async function startServicesWithoutSources(
  stores: IsolatedStores,
  withDelivery = true,
  more: NodeJS.ProcessEnv = {},
): Promise<RunningService[]> {
  const env = programEnv(stores, {
    LOG_LEVEL: 'silent',
    SOURCE_HACKERNEWS_ENABLED: 'false',
    POLL_TICK_MS: '1000',
    ...more,
  });
  const analysis = readAnalysisConfig(env);
  const delivery = readDeliveryConfig(env);
  const polling = readPollingConfig(env);
  return [
    await startService(analysisService(analysis), analysis, false),
    ...(withDelivery ? [await startService(deliveryService(delivery), delivery, false)] : []),
    await startService(pollingService(polling), polling, false),
  ];
}
