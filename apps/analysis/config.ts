import { readServiceSettings } from '#platform';

/** What analysis reads from the environment. @throws SettingsError */
export function readAnalysisConfig(env: NodeJS.ProcessEnv = process.env) {
  return readServiceSettings([], env);
}
