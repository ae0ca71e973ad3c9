import { readSettings } from '#config';
import { PLATFORM_SETTINGS } from '#platform';

/** What keywords reads from the environment. @throws SettingsError */
export function readKeywordsConfig(env: NodeJS.ProcessEnv = process.env) {
  return readSettings(PLATFORM_SETTINGS, env);
}
