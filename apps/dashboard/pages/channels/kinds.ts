import type { components } from '../../../../clients/typescript/src/index.js';
import { CHANNEL_KINDS } from '../../parts/channel-kind.js';

/** A channel, as the API returns it. */
export type Channel = components['schemas']['Channel'];
/** The kind of a channel. */
export type Kind = Channel['kind'];

interface Field {
  key: 'webhookUrl' | 'botToken' | 'chatId' | 'url';
  label: string;
  placeholder: string;
  description: string;
}

/** The texts about a kind of channel, and the fields of its form. */
export interface KindTexts {
  name: string;
  /** The fields of the form that belong to the kind; empty for email, whose form has a list of addresses instead. */
  fields: readonly Field[];
  /** Names what the user should check after the service has answered a message with 404. */
  unknownAddress?: string;
}

const webhookUrl = (placeholder: string, description: string): Field => ({
  key: 'webhookUrl',
  label: 'Webhook address',
  placeholder,
  description,
});

/** The texts of each kind of channel. */
export const KINDS: Readonly<Record<Kind, KindTexts>> = {
  slack: {
    name: CHANNEL_KINDS.slack,
    unknownAddress:
      'Slack does not know this webhook. Copy it again from your app in Slack: it begins with https://hooks.slack.com/services/ and has three parts after it.',
    fields: [
      webhookUrl(
        'https://hooks.slack.com/services/…',
        'Begins with https://hooks.slack.com/services/. In Slack: your app → Incoming Webhooks → Add New Webhook to Workspace',
      ),
    ],
  },
  email: {
    name: CHANNEL_KINDS.email,
    fields: [],
  },
  discord: {
    name: CHANNEL_KINDS.discord,
    unknownAddress:
      'Discord does not know this webhook. The webhook may have been deleted. Copy its address again: it begins with https://discord.com/api/webhooks/.',
    fields: [
      webhookUrl(
        'https://discord.com/api/webhooks/…',
        'Begins with https://discord.com/api/webhooks/. In Discord: the channel’s settings → Integrations → Webhooks → Copy Webhook URL',
      ),
    ],
  },
  teams: {
    name: CHANNEL_KINDS.teams,
    unknownAddress:
      'Teams does not know this workflow. The workflow may have been deleted. Copy its address again from Workflows.',
    fields: [
      webhookUrl(
        'https://….logic.azure.com/workflows/…',
        'Begins with https:// and has .logic.azure.com or .powerplatform.com in it. In Teams: the channel → Workflows → Send webhook alerts to a channel',
      ),
    ],
  },
  telegram: {
    name: CHANNEL_KINDS.telegram,
    unknownAddress: 'Telegram does not know this bot. Copy its token again from @BotFather.',
    fields: [
      {
        key: 'botToken',
        label: 'Bot token',
        placeholder: '123456:ABC-DEF…',
        description: 'In Telegram: write /newbot to @BotFather',
      },
      {
        key: 'chatId',
        label: 'Chat id',
        placeholder: '-1001234567890 or @name',
        description: 'Add the bot to the chat first',
      },
    ],
  },
  webhook: {
    name: CHANNEL_KINDS.webhook,
    unknownAddress: 'The server does not know this path. Check the address.',
    fields: [
      {
        key: 'url',
        label: 'Address',
        placeholder: 'https://example.com/hooks/earshot',
        description:
          'Earshot posts the events as JSON, signed in the same way as for the webhook of a keyword',
      },
    ],
  },
};

/** The values of the form of a channel. */
export interface ChannelValues {
  kind: Kind;
  name: string;
  to: string[];
  webhookUrl: string;
  botToken: string;
  chatId: string;
  url: string;
}

/**
 * Returns the values of the form for a stored channel, or the default values. Secrets are masked. If the form sends a
 * masked secret back, the API keeps the secret.
 */
export function valuesOf(channel: Channel | undefined): ChannelValues {
  const config = (channel?.config ?? {}) as Partial<Omit<ChannelValues, 'kind' | 'name'>>;
  const text = (value: unknown) =>
    value === undefined || value === null ? '' : String(value as string | number);
  return {
    kind: channel?.kind ?? 'slack',
    name: channel?.name ?? '',
    to: config.to ?? [],
    webhookUrl: text(config.webhookUrl),
    botToken: text(config.botToken),
    chatId: text(config.chatId),
    url: text(config.url),
  };
}

/** Returns the config of the channel in the format of the API. */
export function configOf(values: ChannelValues) {
  if (values.kind === 'email') return { to: values.to };
  return Object.fromEntries(KINDS[values.kind].fields.map(({ key }) => [key, values[key]]));
}
