import { inSettings } from '#config';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';

/** Injection token of the guarded HTTP client for outbound requests. */
export const OUTBOUND = Symbol('outbound http');

/** Reads delivery's settings from the environment. @throws SettingsError */
export function readDeliveryConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(['MASTER_KEY', 'EGRESS_ALLOW', 'WEBHOOK_ENDPOINT_CONCURRENCY'], env);
  return { ...settings, egressAllow: inSettings(() => parseEgressAllow(settings.EGRESS_ALLOW)) };
}

export type DeliveryConfig = ReturnType<typeof readDeliveryConfig>;
