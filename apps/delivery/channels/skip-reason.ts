import type { Addressed } from '../attempts/delivery.js';
import type { Channel } from './channel.js';
import type { KeywordChannels } from './channels.js';

/**
 * Returns why a delivery is not sent to its channel, as text for people; undefined if it is sent.
 * @param channel undefined if it was deleted
 * @param keyword undefined if it was retired or purged, or if the delivery has no keyword
 */
export function skipReasonOf(
  { accountId, target, keywordId }: Addressed,
  channel: Channel | undefined,
  keyword: KeywordChannels | undefined,
): string | undefined {
  if (!channel || channel.accountId !== accountId) return 'not sent: the channel was deleted';
  if (target.kind === 'verification') return addressHindrance(channel, target.id, 'unverified');
  if (channel.state === 'disabled')
    return `not sent: the channel is disabled (${channel.disabledReason ?? ''}); to enable it, use POST /v1/channels/${channel.channelId}/enable`;
  if (keywordId !== '' && !keyword) return 'not sent: the keyword was deleted';
  if (keyword && !usesChannel(keyword, channel.channelId))
    return 'not sent: the keyword no longer uses the channel';
  return addressHindrance(channel, target.id, 'verified');
}

function addressHindrance(
  channel: Channel,
  targetId: string,
  needed: 'verified' | 'unverified',
): string | undefined {
  if (channel.kind !== 'email') return undefined;
  const address = channel.addresses.find((one) => one.targetId === targetId);
  if (!address) return 'not sent: the channel no longer has the address';
  if (address.state === needed) return undefined;
  switch (address.state) {
    case 'verified':
      return 'not sent: the address is already verified';
    case 'unverified':
      return 'not sent: the address is not verified';
    case 'unsubscribed':
      return 'not sent: the owner of the address has unsubscribed';
    case 'refused':
      return 'not sent: the mail server has refused the address';
  }
}

function usesChannel({ channels, ofRules }: KeywordChannels, id: string): boolean {
  return ofRules.includes(id) || channels.some(({ channelId }) => channelId === id);
}
