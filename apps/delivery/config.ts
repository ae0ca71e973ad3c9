import { SettingsError } from '#config';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';

/** What delivery reads from the environment. @throws SettingsError */
export function readDeliveryConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['MASTER_KEY', 'EGRESS_ALLOW', 'WEBHOOK_ENDPOINT_CONCURRENCY'], env);
  try {
    return { ...settings, egressAllow: parseEgressAllow(settings.EGRESS_ALLOW) };
  } catch (error) {
    throw new SettingsError(
      `Settings are wrong:\n  ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export type DeliveryConfig = ReturnType<typeof readDeliveryConfig>;
