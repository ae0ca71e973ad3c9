import { inSettings, requireSettings, SettingsError } from '#config';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';
import { createSources } from '#sources';

/** Injection token of the sources of this installation. */
export const SOURCES = Symbol('sources');
/** Injection token of `INTERVAL_FLOOR_SECONDS`; undefined if the shortest intervals of the plans apply. */
export const FLOOR_SECONDS = Symbol('interval floor');

/** Injection token of a boolean: whether the installation has a mail server. */
export const HAS_MAIL = Symbol('has a mail server');

/** Injection token of a boolean: whether the installation has a language model. */
export const HAS_MODEL = Symbol('has a language model');

/** Injection token of the rules of signing up. */
export const SIGN_UP = Symbol('sign-up');

/** Who can sign up, and whether the owners of an account can change its plan. */
export interface SignUpRules {
  mode: 'off' | 'invite' | 'open';
  /**
   * Whether owners can change the plan and add packs. Without the setting `PLAN_CHANGES`, they can do this, except in
   * the mode `open`: in that mode everybody can open an account, and could give it credits.
   */
  canOwnersChangePlan: boolean;
}

function signUpRules(settings: {
  SIGN_UP: SignUpRules['mode'];
  PLAN_CHANGES?: string | undefined;
}): SignUpRules {
  const { SIGN_UP: mode, PLAN_CHANGES: changes = mode === 'open' ? 'cli' : 'owner' } = settings;
  return { mode, canOwnersChangePlan: changes === 'owner' };
}

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
      'MAIL_FROM',
      'SMTP_REQUIRE_TLS',
      'PUBLIC_URL',
      'SIGN_UP',
      'PLAN_CHANGES',
      'MCP_DAILY_CREDITS',
    ],
    env,
  );
  if (settings.SMTP_URL) requireSettings(settings, 'PUBLIC_URL');
  else if (settings.SIGN_UP === 'open')
    throw new SettingsError('Settings are wrong:\n  SIGN_UP: open needs a mail server; set SMTP_URL');
  return {
    ...settings,
    signUp: signUpRules(settings),
    sources: inSettings(() => createSources(env)),
    egressAllow: inSettings(() => parseEgressAllow(settings.EGRESS_ALLOW)),
  };
}

/** The settings of the gateway. */
export type GatewayConfig = ReturnType<typeof readGatewayConfig>;
