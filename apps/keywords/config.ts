import { inSettings } from '#config';
import { readServiceSettings } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');
/** Injection token of `INTERVAL_FLOOR_SECONDS`; undefined where the plans' own floors hold. */
export const FLOOR_SECONDS = Symbol('interval floor');

/** What keywords reads from the environment: the sources too, since what is configured decides prices. @throws SettingsError */
export function readKeywordsConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['INTERVAL_FLOOR_SECONDS'], env);
  return { ...settings, sources: inSettings(() => createSources(env)) };
}

export type KeywordsConfig = ReturnType<typeof readKeywordsConfig>;
