import type { components } from '../../../clients/typescript/src/index.js';

/** The names of the kinds of channels for people. */
export const CHANNEL_KINDS: Readonly<Record<components['schemas']['Channel']['kind'], string>> = {
  slack: 'Slack',
  email: 'Email',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  telegram: 'Telegram',
  webhook: 'Webhook',
};
