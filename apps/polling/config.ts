import { inSettings } from '#config';
import type { SourceId } from '#contracts';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';
import { createSources, type SourceSetup } from '#sources';

/** What polling reads from the environment. @throws SettingsError */
export function readPollingConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['EGRESS_ALLOW', 'POLL_TICK_MS', 'LANE_LEASE_MS'], env);
  return inSettings(() => {
    const sources: ReadonlyMap<SourceId, SourceSetup> = createSources(env);
    // All of them now: a wrong one is told before anything has started.
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

/** `SOURCE_<ID>_LANES`: among how many lanes, and so replicas, a source's work is divided. */
function lanesOf(source: string, env: NodeJS.ProcessEnv): number {
  const name = `SOURCE_${source.toUpperCase()}_LANES`;
  const count = Number(env[name] || 1);
  if (!Number.isInteger(count) || count < 1 || count > 64)
    throw new Error(`${name}: a whole number from 1 to 64 is wanted`);
  return count;
}
