import { readSettings, requireSettings } from '#config';
import { PLATFORM_SETTINGS } from '#platform';

/** What billing reads from the environment. @throws SettingsError */
export function readBillingConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readSettings([...PLATFORM_SETTINGS, 'MASTER_KEY'], env);
  requireSettings(settings, 'MASTER_KEY');
  return settings;
}

export type BillingConfig = ReturnType<typeof readBillingConfig>;
