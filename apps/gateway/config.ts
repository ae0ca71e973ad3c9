import { inSettings } from '#config';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');
/** Injection token of `INTERVAL_FLOOR_SECONDS`; undefined if the floors of the plans apply. */
export const FLOOR_SECONDS = Symbol('interval floor');

/** Injection token: true if the installation has a mail server. */
export const HAS_MAIL = Symbol('has a mail server');

/** Injection token: true if the installation has a language model. */
export const HAS_MODEL = Symbol('has a language model');

/** Reads the gateway's settings from the environment. @throws SettingsError */
export function readGatewayConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(
    [
      'MASTER_KEY',
      'INTERVAL_FLOOR_SECONDS',
      'EGRESS_ALLOW',
      'TRUST_TRACEPARENT',
      'LLM_URL',
      'SMTP_URL',
      'PUBLIC_URL',
    ],
    env,
  );
  return {
    ...settings,
    sources: inSettings(() => createSources(env)),
    egressAllow: inSettings(() => parseEgressAllow(settings.EGRESS_ALLOW)),
  };
}

export type GatewayConfig = ReturnType<typeof readGatewayConfig>;
