import { inSettings } from '#config';
import type { SourceId } from '#contracts';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';
import { createSources, type SourceSetup } from '#sources';

/** Reads polling's settings from the environment. @throws SettingsError */
export function readPollingConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['EGRESS_ALLOW', 'POLL_TICK_MS', 'LANE_LEASE_MS'], env);
  return inSettings(() => {
    const sources: ReadonlyMap<SourceId, SourceSetup> = createSources(env);
    // The numbers of lanes of all sources are read here, so that a wrong number is reported before anything has
    // started.
    const lanes = new Map<string, number>(
      [...sources.keys()].map((source) => [source, lanesOf(source, env)]),
    );
    return {
      ...settings,
      egressAllow: parseEgressAllow(settings.EGRESS_ALLOW),
      sources,
      lanesOf: (source: string) => lanes.get(source) ?? 1,
    };
  });
}

export type PollingConfig = ReturnType<typeof readPollingConfig>;

/**
 * Reads `SOURCE_<ID>_LANES`, the number of lanes of a source. It is also the maximum number of replicas that share the
 * work of the source.
 */
function lanesOf(source: string, env: NodeJS.ProcessEnv): number {
  const name = `SOURCE_${source.toUpperCase()}_LANES`;
  const count = Number(env[name] || 1);
  if (!Number.isInteger(count) || count < 1 || count > 64)
    throw new Error(`${name}: must be a whole number from 1 to 64`);
  return count;
}
