import type { components } from '../../../../clients/typescript/src/index.js';

export type Channel = components['schemas']['Channel'];
export type Kind = Channel['kind'];

interface Field {
  key: 'webhookUrl' | 'botToken' | 'chatId' | 'url';
  label: string;
  placeholder: string;
  description: string;
}

/** How a kind of channel is named and set up. */
export interface KindTexts {
  name: string;
  /** Empty for email, which has a list of addresses. */
  fields: readonly Field[];
}

const webhookUrl = (placeholder: string, description: string): Field => ({
  key: 'webhookUrl',
  label: 'Webhook address',
  placeholder,
  description,
});

export const KINDS: Readonly<Record<Kind, KindTexts>> = {
  slack: {
    name: 'Slack',
    fields: [
      webhookUrl(
        'https://hooks.slack.com/services/…',
        'In Slack: your app → Incoming Webhooks → Add New Webhook to Workspace',
      ),
    ],
  },
  email: { name: 'Email', fields: [] },
  discord: {
    name: 'Discord',
    fields: [
      webhookUrl(
        'https://discord.com/api/webhooks/…',
        'In Discord: the channel’s settings → Integrations → Webhooks → Copy Webhook URL',
      ),
    ],
  },
  teams: {
    name: 'Microsoft Teams',
    fields: [
      webhookUrl(
        'https://….logic.azure.com/workflows/…',
        'In Teams: the channel → Workflows → Send webhook alerts to a channel',
      ),
    ],
  },
  telegram: {
    name: 'Telegram',
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
    name: 'Webhook',
    fields: [
      {
        key: 'url',
        label: 'Address',
        placeholder: 'https://example.com/hooks/earshot',
        description: 'Gets the events as JSON, signed as webhooks are',
      },
    ],
  },
};

/** What a form of a channel holds. */
export interface ChannelValues {
  kind: Kind;
  name: string;
  to: string[];
  webhookUrl: string;
  botToken: string;
  chatId: string;
  url: string;
}

/** The values of a channel as it is read back: its secrets are masked, and stay as they are if they are sent back. */
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

/** The config that the API takes for the kind. */
export function configOf(values: ChannelValues) {
  if (values.kind === 'email') return { to: values.to };
  return Object.fromEntries(KINDS[values.kind].fields.map(({ key }) => [key, values[key]]));
}
