import { readServiceSettings } from '#platform';

/** Reads billing's settings from the environment. @throws SettingsError */
export function readBillingConfig(env: NodeJS.ProcessEnv = process.env) {
  return readServiceSettings(['MASTER_KEY'], env);
}

/** The settings of billing. */
export type BillingConfig = ReturnType<typeof readBillingConfig>;
