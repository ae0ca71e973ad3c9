import { SettingsError } from '#config';
import { readServiceSettings } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');

/** What the gateway reads from the environment. @throws SettingsError */
export function readGatewayConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['MASTER_KEY'], env);
  try {
    return { ...settings, sources: createSources(env) };
  } catch (error) {
    throw new SettingsError(
      `Settings are wrong:\n  ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export type GatewayConfig = ReturnType<typeof readGatewayConfig>;
