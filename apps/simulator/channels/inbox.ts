import type { Clock } from '#kernel';

/** The services that receive messages of channels. */
export const CHANNEL_SERVICES = ['slack', 'discord', 'teams', 'telegram', 'smtp'] as const;
/** A service that receives messages of channels. */
export type ChannelService = (typeof CHANNEL_SERVICES)[number];

/** One message that arrived. The service accepted it, refused it, or did not answer. */
export interface ReceivedMessage {
  /** ISO 8601. */
  at: string;
  service: ChannelService;
  /** The id of the chat, the path of the webhook (Teams: its beginning), or the address of the mail. */
  to: string;
  /**
   * Status of the answer; 0 if there was none. It is 200 for every message that a chat service accepts, although Teams
   * answers 202.
   */
  status: number;
  /** What is wrong with the message, for example an error text of the service; undefined if nothing was found. */
  fault?: string | undefined;
  /** The parts that would notify people; empty in a good message. */
  pings: string[];
  /** The visible content, as text. */
  text: string;
  /** The body of a request, or the parsed mail; null if the recipient of a mail was refused. */
  payload: unknown;
}

const KEPT_MESSAGES = 20_000;

/** Keeps the newest messages of all services, oldest first. */
export class Inbox {
  private received: ReceivedMessage[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly onMessage?: (message: ReceivedMessage) => void,
  ) {}

  add(message: Omit<ReceivedMessage, 'at'>): void {
    const one = { at: this.clock.now().toISOString(), ...message };
    this.received.push(one);
    if (this.received.length > KEPT_MESSAGES) this.received = this.received.slice(-KEPT_MESSAGES / 2);
    this.onMessage?.(one);
  }

  /**
   * Returns the messages, oldest first.
   * @param service only messages of this service
   * @param to only messages to this recipient
   */
  messages(service?: string, to?: string): readonly ReceivedMessage[] {
    return this.received.filter((one) => (!service || one.service === service) && (!to || one.to === to));
  }

  clear(): void {
    this.received = [];
  }
}
