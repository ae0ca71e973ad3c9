import { readServiceSettings } from '#platform';

/** What keywords reads from the environment. @throws SettingsError */
export function readKeywordsConfig(env: NodeJS.ProcessEnv = process.env) {
  return readServiceSettings([], env);
}
