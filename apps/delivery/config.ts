import { readSettings, requireSettings, SettingsError } from '#config';
import { parseEgressAllow } from '#http-out';
import { PLATFORM_SETTINGS } from '#platform';

/** What delivery reads from the environment. @throws SettingsError */
export function readDeliveryConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readSettings([...PLATFORM_SETTINGS, 'MASTER_KEY', 'EGRESS_ALLOW', 'WEBHOOK_ENDPOINT_CONCURRENCY'], env);
  requireSettings(settings, 'MASTER_KEY');
  try {
    return { ...settings, egressAllow: parseEgressAllow(settings.EGRESS_ALLOW) };
  } catch (error) {
    throw new SettingsError(`Settings are wrong:\n  ${error instanceof Error ? error.message : String(error)}`);
  }
}

export type DeliveryConfig = ReturnType<typeof readDeliveryConfig>;
