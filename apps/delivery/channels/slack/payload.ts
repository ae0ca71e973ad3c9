import type { KnownBlock } from '@slack/types';

/** The body of a request to an incoming webhook, as in Slack's own SDK. */
export interface IncomingWebhookSendArguments {
  /** Shown in notifications, and where blocks are not shown. Slack parses markup in it. */
  text: string;
  blocks?: KnownBlock[];
  unfurl_links?: boolean;
  unfurl_media?: boolean;
}
