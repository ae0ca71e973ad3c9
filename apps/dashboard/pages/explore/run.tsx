import { Badge, Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BellPlus, SearchX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'react-router';
import type { AnswerOf } from '../../../../clients/typescript/src/index.js';
import { api } from '../../api/client.js';
import type { Mention } from '../../api/types.js';
import { usePages } from '../../api/use-pages.js';
import { credits, plural, words } from '../../parts/format.js';
import { MarkedText, spansOf } from '../../parts/marked-text.js';
import { PostLink } from '../../parts/post-link.js';
import { Section } from '../../parts/section.js';
import { SourceName } from '../../parts/source.js';
import { Empty, Loaded, LoadingRows } from '../../parts/states.js';
import { More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

type Explore = AnswerOf<'get', '/v1/explore/{id}'>;
const COLOURS = { queued: 'gray', running: 'blue', done: 'teal', failed: 'red' } as const;

/** A run of Explore: the progress of each source, then the items. */
export function Run({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['/v1/explore', id],
    queryFn: ({ signal }) => api.get('/v1/explore/{id}', { path: { id }, signal }),
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : 1000),
  });
  return (
    <Loaded query={query}>
      {(explore) => (
        <Section
          title={`“${explore.question}”`}
          lead={
            <>
              Asked <Time at={explore.createdAt} />. {credits(explore.creditsUsed)} of{' '}
              {credits(explore.creditsQuoted)} used: a source that failed costs nothing.
            </>
          }
          actions={
            <Button
              component={Link}
              to={keywordFrom(explore)}
              variant="default"
              leftSection={<BellPlus size={16} aria-hidden />}
            >
              Keep as a keyword
            </Button>
          }
        >
          <Stack>
            <Stack gap={6} role="status" aria-label="Sources">
              {explore.sources.map(({ source, status, items, error, warning }) => (
                <Group key={source} gap="sm">
                  <SourceName source={source} />
                  <Badge color={COLOURS[status]}>{words(status)}</Badge>
                  <Text size="sm" c="dimmed" className="foreign">
                    {error ?? warning ?? (status === 'done' ? plural(items, 'item') : '')}
                  </Text>
                </Group>
              ))}
              {!isOver(explore) && <Loader size="sm" aria-label="The sources are being asked" />}
            </Stack>
            {isOver(explore) && <Items explore={explore} />}
          </Stack>
        </Section>
      )}
    </Loaded>
  );
}

const isOver = ({ status }: Pick<Explore, 'status'>) => status === 'done' || status === 'failed';

/** Returns the address of the editor for a new keyword with the words and sources of the run. */
function keywordFrom({ question, sources }: Explore): string {
  const params = new URLSearchParams({ name: question, query: question });
  for (const { source } of sources) params.append('source', source);
  return `/keywords/new?${params}`;
}

const PAGE = 50;
/** The items arrive in the list a moment after the run has ended. */
const ITEMS_POLL_MS = 1000;
/** After this time, the list is shown as it is: its items can be older than the 90 days for which they are kept. */
const ITEMS_WITHIN_MS = 15_000;

function Items({ explore: { id, question, status, sources } }: { explore: Explore }) {
  const found = sources.reduce((sum, { items }) => sum + items, 0);
  const [isOverdue, setOverdue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOverdue(true), ITEMS_WITHIN_MS);
    return () => clearTimeout(timer);
  }, []);
  const isComplete = (rows: readonly Mention[]) => rows.length >= Math.min(found, PAGE) || isOverdue;
  const query = usePages(
    ['/v1/explore', id, 'items'],
    (page, signal) =>
      api.get('/v1/explore/{id}/items', { path: { id }, query: { ...page, limit: PAGE }, signal }),
    { refetchInterval: (rows) => (isComplete(rows) ? false : ITEMS_POLL_MS) },
  );
  return (
    <Loaded query={query}>
      {(items) => {
        if (items.length === 0 && !isComplete(items)) return <LoadingRows />;
        if (items.length === 0)
          return status === 'failed' ? (
            <Empty icon={SearchX} title="No source answered" />
          ) : (
            <Empty icon={SearchX} title="Nothing was found">
              The sources that answered have no posts with these words now.
            </Empty>
          );
        return (
          <>
            <Stack gap="xs">
              {items.map((item) => (
                <Item key={item.id} item={item} terms={question.split(/\s+/)} />
              ))}
            </Stack>
            <More query={query} />
          </>
        );
      }}
    </Loaded>
  );
}

function Item({ item, terms }: { item: Mention; terms: readonly string[] }) {
  const { title, excerpt, source, author, publishedAt, url } = item;
  return (
    <article className="card" style={{ padding: '0.7rem 0.9rem' }}>
      <Group gap="sm">
        <SourceName source={source} size="xs" />
        <Text size="xs" c="dimmed" className="foreign" component="div">
          <bdi>{author}</bdi> · <Time at={publishedAt} />
        </Text>
      </Group>
      <Text size="sm" fw={600} className="foreign" dir="auto">
        <PostLink url={url}>
          <MarkedText text={title ?? url} spans={spansOf(title ?? url, terms)} />
        </PostLink>
      </Text>
      <Text size="sm" lineClamp={3} className="foreign" dir="auto">
        <MarkedText text={excerpt} spans={spansOf(excerpt, terms)} />
      </Text>
    </article>
  );
}
