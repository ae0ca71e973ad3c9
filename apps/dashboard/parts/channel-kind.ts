import type { components } from '../../../clients/typescript/src/index.js';

/** The name of each kind of channel, as the pages show it. */
export const CHANNEL_KINDS: Readonly<Record<components['schemas']['Channel']['kind'], string>> = {
  slack: 'Slack',
  email: 'Email',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  telegram: 'Telegram',
  webhook: 'Webhook',
};
