import type { KnownBlock } from '@slack/types';

/** The body of a request to an incoming webhook, as in Slack's own SDK. */
export interface IncomingWebhookSendArguments {
  /** Slack shows this text in notifications, and in places that show no blocks. Slack parses markup in the text. */
  text: string;
  blocks?: KnownBlock[];
  unfurl_links?: boolean;
  unfurl_media?: boolean;
}
