import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { SearchX } from 'lucide-react';
import { useState } from 'react';
import type { Mention } from '../../api/types.js';
import { plural } from '../format.js';
import { MarkedText, spansOf } from '../marked-text.js';
import { PostLink } from '../post-link.js';
import { SourceName } from '../source.js';
import { Empty } from '../states.js';
import { Time } from '../time.js';

const FIRST_ITEMS = 12;
/** Items up to this age are counted as recent. */
const RECENT_DAYS = 7;

/** Shows the number of matches for each source, then the items: first the matches, the newest at the top. */
export function PreviewItems({
  mentions,
  terms,
}: {
  mentions: readonly Mention[];
  terms: readonly string[];
}) {
  const [isWhole, setWhole] = useState(false);
  if (mentions.length === 0)
    return (
      <Empty icon={SearchX} title="The sources that answered have nothing about these terms now">
        This can be correct for a new name. Otherwise go back and add spellings.
      </Empty>
    );
  const matching = newestFirst(mentions.filter(({ matchedTerms }) => matchedTerms.length > 0));
  const sorted = [...matching, ...mentions.filter((mention) => !matching.includes(mention))];
  const sources = [...new Set(mentions.map(({ source }) => source))];
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {plural(matching.length, 'match', 'matches')} in {plural(mentions.length, 'result')} of the sources,{' '}
        {matching.filter(isRecent).length} from the last {RECENT_DAYS} days
      </Text>
      <Group component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
        {sources.map((source) => {
          const own = matching.filter((mention) => mention.source === source);
          return (
            <Group component="li" key={source} gap={6}>
              <SourceName source={source} size="xs" />
              <Text size="xs" c="dimmed">
                {plural(own.length, 'match', 'matches')}, {own.filter(isRecent).length} from the last{' '}
                {RECENT_DAYS} days
              </Text>
            </Group>
          );
        })}
      </Group>
      {(isWhole ? sorted : sorted.slice(0, FIRST_ITEMS)).map((mention) => (
        <Item key={mention.id} mention={mention} terms={terms} />
      ))}
      {!isWhole && sorted.length > FIRST_ITEMS && (
        <Button variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
          Show all {sorted.length}
        </Button>
      )}
    </Stack>
  );
}

function Item({ mention, terms }: { mention: Mention; terms: readonly string[] }) {
  const { title, excerpt, source, author, publishedAt, url, matchedTerms } = mention;
  const [reason] = matchedTerms;
  return (
    <div className="card" style={{ padding: '0.6rem 0.8rem', opacity: reason ? 1 : 0.75 }}>
      <Group gap={8} justify="space-between" wrap="nowrap">
        <Group gap={8} wrap="nowrap" miw={0}>
          <SourceName source={source} size="xs" />
          <Text size="xs" c="dimmed" truncate className="foreign">
            {author}
          </Text>
        </Group>
        <Text size="xs" c="dimmed" component="div">
          <Time at={publishedAt} />
        </Text>
      </Group>
      {title && (
        <Text size="sm" fw={600} className="foreign" dir="auto">
          <PostLink url={url}>
            <MarkedText text={title} spans={spansOf(title, terms)} />
          </PostLink>
        </Text>
      )}
      <Text size="sm" lineClamp={2} className="foreign" dir="auto">
        <MarkedText text={excerpt} spans={spansOf(excerpt, terms)} />
      </Text>
      <Badge mt={4} color={reason ? 'teal' : 'gray'} className="foreign">
        {reason ? `matches ${reason}` : 'contains none of the terms, so the keyword would leave it out'}
      </Badge>
    </div>
  );
}

function isRecent({ publishedAt }: Mention): boolean {
  return publishedAt !== null && Date.now() - Date.parse(publishedAt) < RECENT_DAYS * 86_400_000;
}

/** Sorts by time; posts without a time are last. */
function newestFirst(mentions: readonly Mention[]): Mention[] {
  return [...mentions].sort((a, b) => (b.publishedAt ?? '').localeCompare(a.publishedAt ?? ''));
}
