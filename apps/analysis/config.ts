import { readServiceSettings } from '#platform';

/** Reads the settings of analysis from the environment. @throws SettingsError */
export function readAnalysisConfig(env: NodeJS.ProcessEnv = process.env) {
  return readServiceSettings([], env);
}
