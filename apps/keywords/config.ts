import { inSettings } from '#config';
import { readServiceSettings } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');
/** Injection token of `INTERVAL_FLOOR_SECONDS`; undefined if the floors of the plans apply. */
export const FLOOR_SECONDS = Symbol('interval floor');

/**
 * Reads the settings of keywords from the environment, including the settings of the sources, because prices depend on
 * the configured sources.
 * @throws SettingsError
 */
export function readKeywordsConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['INTERVAL_FLOOR_SECONDS'], env);
  return { ...settings, sources: inSettings(() => createSources(env)) };
}

/** The settings of keywords. */
export type KeywordsConfig = ReturnType<typeof readKeywordsConfig>;
