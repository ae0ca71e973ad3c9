import { Anchor, Badge, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { PartyPopper } from 'lucide-react';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import { plural } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { SourceName } from '../../parts/source.js';
import { Loaded } from '../../parts/states.js';

/** A free account has one request a second for all its programs. */
const POLL_MS = 5000;
/** Number of reads of the mentions with short pauses. The first checks end earlier. */
const QUICK_POLLS = 24;
const LATER_POLL_MS = 60_000;

/** Shows whether each search had its first check, and how many mentions were found. */
export default function LiveStep({ keywordId }: { keywordId: string }) {
  const path = { id: keywordId };
  const keyword = useQuery({
    queryKey: ['/v1/keywords', keywordId],
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}', { path, signal }),
    refetchInterval: ({ state }) => (isChecked(state.data) ? false : POLL_MS),
  });
  const results = useQuery({
    queryKey: ['/v1/keywords', keywordId, 'results', 'first'],
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}/results', { path, query: { limit: 200 }, signal }),
    refetchInterval: ({ state }) =>
      state.dataUpdateCount + state.errorUpdateCount < QUICK_POLLS ? POLL_MS : LATER_POLL_MS,
  });
  const found = results.data?.data.length ?? 0;
  return (
    <Section title="The keyword is running">
      <Loaded query={keyword}>
        {({ watches, name }) => {
          const checked = watches.filter(({ lastCheckedAt }) => lastCheckedAt !== null).length;
          return (
            <Stack>
              <Text size="sm" role="status">
                <PartyPopper size={15} aria-hidden style={{ verticalAlign: '-2px' }} />{' '}
                <b className="foreign">{name}</b> is live: {checked} of{' '}
                {plural(watches.length, 'search', 'searches')} had their first check,{' '}
                {plural(found, 'mention')}
                {results.data?.nextCursor ? ' and more' : ''} found.
              </Text>
              <Group gap="md">
                {watches.map(({ id, source, lastStatus }) => (
                  <Group key={id} gap={6}>
                    <SourceName source={source} />
                    <Badge color={lastStatus === 'failed' ? 'red' : lastStatus ? 'teal' : 'gray'}>
                      {lastStatus === 'failed'
                        ? 'failed; Earshot tries again'
                        : lastStatus
                          ? 'checked'
                          : 'waiting'}
                    </Badge>
                  </Group>
                ))}
              </Group>
              <List size="sm" spacing={4}>
                <List.Item>
                  Older posts are in the feed with the mark “First scan”. They are never sent to webhooks or
                  channels.
                </List.Item>
                <List.Item>New posts appear in the feed within one interval, without a reload.</List.Item>
                <List.Item>
                  To get mentions elsewhere,{' '}
                  <Anchor component={Link} to="/channels">
                    set up a channel
                  </Anchor>
                  : Slack, mail, Discord, Teams, Telegram or a webhook. Then choose the channel in the{' '}
                  <Anchor component={Link} to={`/keywords/${keywordId}/edit`}>
                    editor
                  </Anchor>
                  .
                </List.Item>
              </List>
              <Group>
                <Button component={Link} to={`/feed?keyword=${keywordId}&window=30d`}>
                  Open the feed
                </Button>
                <Button component={Link} to={`/keywords/${keywordId}`} variant="default">
                  See the keyword
                </Button>
              </Group>
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}

/** Returns true if each search of the keyword had its first check. */
const isChecked = (keyword: { watches: readonly { lastCheckedAt: string | null }[] } | undefined) =>
  keyword !== undefined &&
  keyword.watches.length > 0 &&
  keyword.watches.every(({ lastCheckedAt }) => lastCheckedAt !== null);
