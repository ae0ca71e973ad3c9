import { Button, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BellRing, Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import { Page } from '../../parts/page.js';
import { Empty, Loaded, LoadingRows } from '../../parts/states.js';
import { ChannelCard } from './channel-card.js';
import { ChannelForm } from './channel-form.js';
import type { Channel } from './kinds.js';

/** The channels that report mentions: Slack, mail, Discord, Teams, Telegram, webhooks. */
export function Component() {
  const canEdit = useCanEdit();
  const [form, setForm] = useState<{ channel: Channel | undefined }>();
  const query = useQuery({
    queryKey: ['/v1/channels'],
    queryFn: async ({ signal }) => {
      const channels: Channel[] = [];
      for await (const channel of api.paginate('/v1/channels', { query: { limit: 200 }, signal }))
        channels.push(channel);
      return channels;
    },
    refetchInterval: 15_000,
  });
  const add = canEdit && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setForm({ channel: undefined })}>
      Add a channel
    </Button>
  );
  return (
    <Page
      title="Channels"
      lead="Connect a channel here. Then choose in a keyword what the channel gets: each mention immediately, or a digest."
      actions={add}
    >
      <Loaded query={query} loading={<LoadingRows rows={3} height={120} />}>
        {(channels) =>
          channels.length === 0 ? (
            <Empty icon={BellRing} title="No channels yet" action={add}>
              A channel sends mentions to the tools that your team already uses.
            </Empty>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {channels.map((channel) => (
                <ChannelCard key={channel.id} channel={channel} onChange={() => setForm({ channel })} />
              ))}
            </SimpleGrid>
          )
        }
      </Loaded>
      {form && <ChannelForm channel={form.channel} onClose={() => setForm(undefined)} />}
    </Page>
  );
}
