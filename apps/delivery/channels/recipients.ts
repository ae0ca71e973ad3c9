import { KEYWORD_EVENT_TYPES } from '#contracts';
import type { ReadEvent } from '../wire/pushed-event.reader.js';
import type { KeywordChannels } from './channels.js';

/**
 * Returns the ids of the channels that get an event immediately:
 * - the channels that a rule or an alert names
 * - all channels of the keyword, if a rule or an alert notifies without naming channels
 * - channels of the keyword with the mode `instant`, for a pushed event of an item, and for a pushed event of the
 *   keyword itself if the keyword subscribes to its type
 * - all channels of the keyword except the disabled one, for `channel.disabled`
 */
export function recipientsOf(
  event: Pick<ReadEvent, 'type' | 'push' | 'notifyChannelIds' | 'notifyKeywordChannels' | 'envelope'>,
  { channels, webhookEvents }: Pick<KeywordChannels, 'channels' | 'webhookEvents'>,
): string[] {
  const { type, push, notifyChannelIds, notifyKeywordChannels } = event;
  const isOfKeyword = (KEYWORD_EVENT_TYPES as readonly string[]).includes(type);
  const toAll = notifyKeywordChannels || type === 'channel.disabled';
  const toInstant = push && (!isOfKeyword || webhookEvents.includes(type));
  const ofKeyword = channels.filter(({ mode }) => toAll || (toInstant && mode === 'instant'));
  const ids = new Set([...notifyChannelIds, ...ofKeyword.map(({ channelId }) => channelId)]);
  // The row of the disabled channel can still say that the channel is enabled, because the fact is published before the
  // row is committed.
  if (type === 'channel.disabled') ids.delete(disabledIn(event.envelope));
  return [...ids];
}

/**
 * Returns the id of the channel that an event `channel.disabled` is about; empty for another event, and if the event is
 * about a webhook address.
 */
export function disabledIn(envelope: Uint8Array): string {
  // Most events are of other types, and are not parsed.
  if (!Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength).includes('"channel.disabled"'))
    return '';
  const { type, data } = JSON.parse(Buffer.from(envelope).toString()) as {
    type?: string;
    data?: { channelId?: string | null };
  };
  return (type === 'channel.disabled' && data?.channelId) || '';
}
