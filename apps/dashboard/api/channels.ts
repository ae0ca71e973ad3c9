import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from './client.js';
import type { RowOf } from '../../../clients/typescript/src/index.js';

/** A channel, as the API returns it. */
export type Channel = RowOf<'/v1/channels'>;

/** The channels by id, without deleted channels; undefined until the channels are loaded. */
export type Channels = ReadonlyMap<string, Channel> | undefined;

/** Reads all channels. */
export function useChannels(): Channels {
  const { data } = useQuery({
    queryKey: ['/v1/channels', 'by id'],
    queryFn: async ({ signal }) => {
      const found: Channel[] = [];
      for await (const channel of api.paginate('/v1/channels', { query: { limit: 200 }, signal }))
        found.push(channel);
      return found;
    },
    staleTime: 60_000,
  });
  return useMemo(() => data && new Map(data.map((channel) => [channel.id, channel])), [data]);
}

const PREFIX = 'channel:';

/** Returns the id of the channel of a delivery; undefined if the delivery went to an address. */
export const channelIdOf = (endpoint: string) =>
  endpoint.startsWith(PREFIX) ? endpoint.slice(PREFIX.length) : undefined;

/** Returns the name of a delivery's target, for people. */
export function targetName(endpoint: string, channels: Channels): string {
  const id = channelIdOf(endpoint);
  return id === undefined ? endpoint : channelName(id, channels);
}

/** Returns the name of a channel, for people. */
export const channelName = (id: string, channels: Channels) =>
  channels ? (channels.get(id)?.name ?? 'A channel that does not exist any more') : 'A channel';
