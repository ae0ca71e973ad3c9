import { inSettings } from '#config';
import { readServiceSettings } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');
/**
 * Injection token of the setting `INTERVAL_FLOOR_SECONDS`, the shortest interval of a watch. The injected value is
 * undefined if the shortest interval of each plan applies.
 */
export const FLOOR_SECONDS = Symbol('interval floor');

/**
 * Reads the settings of the keywords service from the environment. They include the settings of the sources, because
 * prices depend on the configured sources.
 * @throws SettingsError if a setting is missing or invalid
 */
export function readKeywordsConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['INTERVAL_FLOOR_SECONDS'], env);
  return { ...settings, sources: inSettings(() => createSources(env)) };
}

/** The settings of the keywords service. */
export type KeywordsConfig = ReturnType<typeof readKeywordsConfig>;
