import { create, toBinary } from '@bufbuild/protobuf';
import { request } from 'undici';
import { EventSchema, type Event } from '#contracts';
import { derivedId, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';
import {
  simulatedChannels,
  startSimulator,
  type ReceivedMail,
  type ReceivedMessage,
  type Simulator,
} from '../../apps/simulator/index.js';
import type { Tenant } from './interface-under-test.js';
import { startDeliveries, type DeliveriesUnderTest } from './deliveries-under-test.js';

/** A text that tries to notify people, to change the format and to run code. */
export const HOSTILE =
  '<!channel> <@U1> @everyone @here @ada_lovelace **bold** [x](https://evil.example) <b>html</b> <script>1</script> & "q" `c` \u202Eback';

/** The address of a Slack webhook. */
export const SLACK = 'https://hooks.slack.com/services/T1/B1';
/** Builds the config of a chat channel from a secret, for each kind. */
export const CONFIGS: Record<string, (secret: string) => Record<string, unknown>> = {
  slack: (secret) => ({ webhook_url: `${SLACK}/${secret}` }),
  discord: (secret) => ({ webhook_url: `https://discord.com/api/webhooks/1/${secret}` }),
  teams: (secret) => ({
    webhook_url: `https://x.logic.azure.com/workflows/${secret}/triggers/manual/paths/invoke?sig=s`,
  }),
  telegram: (secret) => ({ bot_token: `12345:ABCDE${secret}`, chat_id: `-100${secret.length}` }),
};

/** Returns the part of a keyword's body that sends each event immediately to these channels. */
export const instant = (...ids: string[]) => ({
  channels: ids.map((channel_id) => ({ channel_id, mode: 'instant' })),
});

/** The services with simulated channels, and helper functions for all tests of channels. */
export class ChannelsScene {
  sim!: Simulator;
  setup!: DeliveriesUnderTest;
  /** A second account. The first account is `setup.ada`. */
  bob!: Tenant;

  async start(): Promise<void> {
    this.sim = await startSimulator();
    this.setup = await startDeliveries(true, (url) => ({
      ...simulatedChannels(this.sim),
      PUBLIC_URL: url || 'http://127.0.0.1:1',
    }));
    this.bob = await this.setup.service.tenant();
  }

  async stop(): Promise<void> {
    await this.setup?.stop();
    await this.sim?.stop();
  }

  /** Deletes the received messages and the faults of the services. */
  clear(): void {
    this.sim.inbox.clear();
    this.sim.faults.clear();
  }

  readonly channel = async (kind: string, config: Record<string, unknown>): Promise<Json> => {
    const answer = await this.setup.ada.api.post('/v1/channels', { kind, name: `My ${kind}`, config });
    expect([answer.text, answer.status]).toEqual([answer.text, 201]);
    return answer.body;
  };

  readonly read = async (id: string): Promise<Json> =>
    (await this.setup.ada.api.get(`/v1/channels/${id}`)).body;

  readonly chat = (kind: string, secret = newId().slice(-12)): Promise<Json> =>
    this.channel(kind, CONFIGS[kind]?.(secret) ?? {});

  /** Creates a keyword without a webhook. */
  readonly keyword = (more: Record<string, unknown>): Promise<{ keywordId: string; watchId: string }> =>
    this.setup.keyword(null, more);

  /** Appends an event. @returns its id */
  readonly event = async (
    { keywordId, watchId }: { keywordId: string; watchId: string },
    more: Partial<Event> = {},
    text = 'Acme is great',
    { accountId }: Tenant = this.setup.ada,
  ): Promise<string> => {
    const id = derivedId('spec', newId());
    const item = {
      id: '1',
      source: 'hackernews',
      url: 'https://example.org/1',
      author: 'ada',
      title: text,
      text,
    };
    const made = create(EventSchema, {
      eventId: id,
      accountId,
      watchId,
      keywordId,
      source: 'hackernews',
      type: 'hn_item.created',
      occurredAt: new Date().toISOString(),
      envelope: Buffer.from(JSON.stringify({ id, type: 'hn_item.created', item })),
      push: true,
      ...(more as object),
    });
    await this.setup.store.publish(subjectOf('EVENTS', accountId, watchId), toBinary(EventSchema, made), id);
    return id;
  };

  /** Waits until at least `count` messages have arrived, and returns them. */
  readonly messages = (count: number, service?: string, to?: string) =>
    until(`${count} messages arrive`, () => {
      const found = this.sim.inbox.messages(service, to);
      return found.length >= count && found;
    });
}

/** Returns the mail in a received message. */
export const mailIn = (message: ReceivedMessage | undefined) => message?.payload as ReceivedMail;
/** Returns the link in a mail for an action. `action` is the last part of its path, for example `verify`. */
export const linkIn = (mail: ReceivedMail, action: string) =>
  new RegExp(`http://\\S+/channels/${action}\\?token=[\\w-]+`).exec(mail.text)?.[0] ?? '';

/** Opens a link, as a browser or a mail program does. */
export async function browse(url: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode: status, body } = await request(url, options);
  const text = await body.text();
  return { status, text };
}
