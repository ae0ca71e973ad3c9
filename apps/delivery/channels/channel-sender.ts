import type { Digest } from '#contracts';
import { OutboundError, rerouteTo, type OutboundDispatcher, type OutboundMail } from '#http-out';
import type { AddressLinks } from '#secrets';
import { continueTrace } from '#telemetry';
import type { AttemptCallback, AttemptResult, Delivery } from '../attempts/delivery.js';
import { sendWebhook } from '../attempts/webhook-sender.js';
import type { Channel } from './channel.js';
import { digestMessage } from './digest-message.js';
import { discordUrl, discordResult } from './discord/discord.js';
import { renderDiscord } from './discord/render.js';
import { renderMail, type RenderedMail } from './email/render.js';
import { verificationMail } from './email/verification-mail.js';
import { eventMessage } from './event-message.js';
import type { Message } from './message.js';
import type { ChannelPace } from './pace.js';
import { renderSlack } from './slack/render.js';
import { slackResult } from './slack/slack.js';
import { renderTeams } from './teams/render.js';
import { teamsResult } from './teams/teams.js';
import { renderTelegram } from './telegram/render.js';
import { telegramUrl, telegramResult } from './telegram/telegram.js';
import type { ChatResponse, ChatResult } from './chat-response.js';

type ChatChannel = Extract<Channel, { kind: 'slack' | 'discord' | 'teams' | 'telegram' }>;
type MailChannel = Extract<Channel, { kind: 'email' }>;

/** For each kind of chat: the value of `CHANNEL_<KIND>_URL`; empty if the setting is not set. */
export type ChatAddresses = Readonly<Record<ChatChannel['kind'], string>>;

/** What all mails need: the client of the mail server, the links for recipients, and the address of the gateway. */
export interface MailSettings {
  mail: OutboundMail;
  links: AddressLinks;
  publicUrl: string;
}

const DEADLINE_MS = 10_000;
/** The time limit for sending one mail to the mail server, which can answer later. */
const MAIL_DEADLINE_MS = 12_000;
const RESPONSE_BYTES = 64 * 1024;
const GONE = 410;

/**
 * Sends deliveries to channels, and reads the answers. A channel of the kind webhook gets the stored bytes. A chat gets
 * a message that is rendered from these bytes. An email address gets such a message, or a mail that asks its owner for
 * consent.
 */
export class ChannelSender {
  /** @param mail undefined if `SMTP_URL` is not set */
  constructor(
    private readonly http: OutboundDispatcher,
    private readonly mail: MailSettings | undefined,
    private readonly addresses: ChatAddresses,
    private readonly pace: ChannelPace,
  ) {}

  /**
   * Makes one attempt. Makes none while the destination has asked the sender to wait, or if no connection to the mail
   * server becomes free in time.
   * @param callback called exactly once: with the attempt, even if it failed; with undefined if no attempt was made;
   *   with an error only after a defect of Earshot
   */
  send(delivery: Delivery, callback: AttemptCallback): void {
    const { destination, endpoint } = delivery;
    if (!destination) return callback(new Error('the delivery has no channel'));
    const { channel } = destination;
    const ended: AttemptCallback = (error, result) => {
      if (result?.retryAfterMs !== undefined)
        this.pace.pause(endpoint, channel.kind, result.retryAfterMs, Date.now());
      callback(error, result);
    };
    if (this.pace.isPaused(endpoint, Date.now())) return callback(undefined);
    if (channel.kind === 'email' && this.mail?.mail.hasRoom(channel.accountId) === false)
      return callback(undefined);
    if (channel.kind === 'webhook') return this.sendEnvelope(delivery, channel.url, ended);
    void continueTrace(delivery.cause, () =>
      (channel.kind === 'email' ? this.sendMail(delivery, channel) : this.sendChat(delivery, channel)).then(
        (result) => ended(undefined, result),
        ended,
      ),
    );
  }

  /** Sends to a channel of the kind webhook: the stored bytes, signed like every webhook. */
  private sendEnvelope(delivery: Delivery, url: string, callback: AttemptCallback): void {
    sendWebhook(this.http, { ...delivery, endpoint: url }, (error, result) =>
      callback(
        error,
        result && { ...result, delivery, ...(result.statusCode === GONE && { gone: GONE_WEBHOOK }) },
      ),
    );
  }

  /** Closes the connections to the mail server. A connection that is sending a mail is closed after this mail. */
  close(): void {
    this.mail?.mail.close();
  }

  private async sendChat(delivery: Delivery, channel: ChatChannel): Promise<AttemptResult> {
    const { url, body, readResponse } = chatRequest(channel, messageOf(delivery));
    const base = this.addresses[channel.kind];
    const at = Date.now();
    const resultOf = (statusCode: number, result: Omit<ChatResult, 'isGone'> & { isGone?: boolean }) => ({
      delivery,
      at,
      durationMs: Date.now() - at,
      statusCode,
      delivered: result.delivered,
      message: result.message,
      retryAfterMs: result.retryAfterMs,
      ...(result.isGone && { gone: result.message }),
    });
    try {
      const answer = await this.http.request({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(body),
        deadlineMs: DEADLINE_MS,
        maxBytes: RESPONSE_BYTES,
        overflow: 'cut',
        redirects: 'none',
        ...(base !== '' && { reroute: rerouteTo(base), trusted: true }),
      });
      const { status, headers, bytes } = answer;
      return resultOf(status, readResponse({ status, headers, body: Buffer.from(bytes).toString() }));
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return resultOf(0, { delivered: false, message: error.message, retryAfterMs: undefined });
    }
  }

  private async sendMail(delivery: Delivery, channel: MailChannel): Promise<AttemptResult | undefined> {
    const at = Date.now();
    const { eventId, target } = delivery;
    const to = channel.addresses.find(({ targetId }) => targetId === target.id)?.address;
    const nothing = { delivery, at, durationMs: 0, statusCode: 0, delivered: false };
    if (!to) return { ...nothing, message: 'the channel no longer has the address' };
    if (!this.mail) return { ...nothing, message: 'mail cannot be sent: SMTP_URL is not set' };
    const { mail, publicUrl } = this.mail;
    const { rendered, headers } = this.mailOf(delivery, channel, to, this.mail);
    const outcome = await mail.send({
      accountId: channel.accountId,
      to,
      ...rendered,
      messageId: `<${eventId}.${target.id}@${new URL(publicUrl).hostname}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All', ...headers },
      deadlineMs: MAIL_DEADLINE_MS,
    });
    if (!outcome) return undefined;
    return {
      ...nothing,
      durationMs: Date.now() - at,
      statusCode: outcome.statusCode,
      delivered: outcome.accepted,
      message: outcome.message,
      ...(outcome.isRecipientRefused && { gone: outcome.message, goneAddress: to }),
    };
  }

  private mailOf(
    delivery: Delivery,
    { channelId, accountId }: MailChannel,
    address: string,
    { links, publicUrl }: MailSettings,
  ): { rendered: RenderedMail; headers: Record<string, string> } {
    const ref = { accountId, channelId, address };
    const now = Date.now();
    if (delivery.target.kind === 'verification')
      return { rendered: verificationMail(links.urlOf('verify', ref, now), publicUrl), headers: {} };
    const unsubscribe = links.urlOf('unsubscribe', ref, now);
    return {
      rendered: renderMail(messageOf(delivery), [{ label: 'Unsubscribe', url: unsubscribe }]),
      // List-Id: RFC 2919. List-Unsubscribe: RFC 2369. List-Unsubscribe-Post: RFC 8058.
      headers: {
        'List-Id': `<${channelId}.channels.earshot.invalid>`,
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    };
  }
}

const GONE_WEBHOOK = 'the webhook answered 410 Gone';

function chatRequest(
  channel: ChatChannel,
  message: Message,
): { url: string; body: unknown; readResponse(answer: ChatResponse): ChatResult } {
  switch (channel.kind) {
    case 'slack':
      return { url: channel.webhookUrl, body: renderSlack(message), readResponse: slackResult };
    case 'discord':
      return {
        url: discordUrl(channel.webhookUrl),
        body: renderDiscord(message),
        readResponse: discordResult,
      };
    case 'teams':
      return { url: channel.webhookUrl, body: renderTeams(message), readResponse: teamsResult };
    case 'telegram':
      return {
        url: telegramUrl(channel.botToken),
        body: renderTelegram(message, channel.chatId),
        readResponse: telegramResult,
      };
  }
}

function messageOf({ body, destination, target }: Delivery): Message {
  if (target.kind === 'digest') return digestMessage(JSON.parse(Buffer.from(body).toString()) as Digest);
  return eventMessage(body, destination?.keywordName ?? '', destination?.disabledName);
}
