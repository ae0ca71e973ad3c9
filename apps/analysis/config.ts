import { readSettings } from '#config';
import { PLATFORM_SETTINGS } from '#platform';

/** What analysis reads from the environment. @throws SettingsError */
export function readAnalysisConfig(env: NodeJS.ProcessEnv = process.env) {
  return readSettings(PLATFORM_SETTINGS, env);
}
