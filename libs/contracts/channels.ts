/** The kinds of channels. */
export const CHANNEL_KINDS = ['email', 'slack', 'discord', 'teams', 'telegram', 'webhook'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];
