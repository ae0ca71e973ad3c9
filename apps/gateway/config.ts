import { readSettings, requireSettings, SettingsError } from '#config';
import { PLATFORM_SETTINGS } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');

/** What the gateway reads from the environment. @throws SettingsError */
export function readGatewayConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readSettings([...PLATFORM_SETTINGS, 'MASTER_KEY'], env);
  requireSettings(settings, 'MASTER_KEY');
  try {
    return { ...settings, sources: createSources(env) };
  } catch (error) {
    throw new SettingsError(
      `Settings are wrong:\n  ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export type GatewayConfig = ReturnType<typeof readGatewayConfig>;
