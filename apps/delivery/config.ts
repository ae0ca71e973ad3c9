import { inSettings, requireSettings } from '#config';
import { parseEgressAllow } from '#http-out';
import { readServiceSettings } from '#platform';

/** Injection token of the guarded HTTP client for outbound requests. */
export const OUTBOUND = Symbol('outbound http');

/** Reads delivery's settings from the environment. @throws SettingsError */
export function readDeliveryConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readServiceSettings(
    [
      'MASTER_KEY',
      'EGRESS_ALLOW',
      'WEBHOOK_ENDPOINT_CONCURRENCY',
      'PUBLIC_URL',
      'SMTP_URL',
      'MAIL_FROM',
      'SMTP_REQUIRE_TLS',
      'CHANNEL_SLACK_URL',
      'CHANNEL_DISCORD_URL',
      'CHANNEL_TEAMS_URL',
      'CHANNEL_TELEGRAM_URL',
    ],
    env,
  );
  // Mails contain links to the gateway.
  if (settings.SMTP_URL) requireSettings(settings, 'PUBLIC_URL');
  return { ...settings, egressAllow: inSettings(() => parseEgressAllow(settings.EGRESS_ALLOW)) };
}

/** The settings of delivery. */
export type DeliveryConfig = ReturnType<typeof readDeliveryConfig>;
