import { Button, Group, NativeSelect, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BarChart3, Inbox, Pencil, Radar, Route as RouteIcon } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import type { Keyword } from '../../api/types.js';
import { Figure } from '../../parts/figure.js';
import { count, percent, plural } from '../../parts/format.js';
import { KeywordState } from '../../parts/keyword-state.js';
import { Page } from '../../parts/page.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded, LoadingRows } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { FeedAddresses } from './feed-addresses.js';
import { KeywordActions } from './keyword-actions.js';
import { ShareOfVoice } from './share-of-voice.js';
import { TopLists } from './top-lists.js';
import { useSeries, type Series } from './use-series.js';
import { WatchTable } from './watch-table.js';

const Charts = lazy(() => import('./charts.js'));

const PERIODS = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
];

/** What a keyword has found: volume, sentiment, sources, authors, share of voice, and the state of its searches. */
export function Component() {
  const { id = '' } = useParams();
  const keyword = useQuery({
    queryKey: ['/v1/keywords', id],
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}', { path: { id }, signal }),
    refetchInterval: 15_000,
  });
  return (
    <Page
      title={keyword.data?.name ?? 'Keyword'}
      back={{ to: '/keywords', label: 'Keywords' }}
      actions={keyword.data && <Actions keyword={keyword.data} />}
    >
      <Loaded query={keyword} loading={<LoadingRows rows={5} height={96} />}>
        {(found) => <Overview keyword={found} />}
      </Loaded>
    </Page>
  );
}

function Actions({ keyword }: { keyword: Keyword }) {
  const canEdit = useCanEdit();
  return (
    <>
      <Button
        component={Link}
        to={`/feed?keyword=${keyword.id}&window=30d`}
        variant="default"
        leftSection={<Inbox size={16} aria-hidden />}
      >
        Feed
      </Button>
      <Button
        component={Link}
        to={`/keywords/${keyword.id}/coverage`}
        variant="default"
        leftSection={<Radar size={16} aria-hidden />}
      >
        Coverage
      </Button>
      <Button
        component={Link}
        to={`/keywords/${keyword.id}/rules`}
        variant="default"
        leftSection={<RouteIcon size={16} aria-hidden />}
      >
        Rules
      </Button>
      {canEdit && keyword.state !== 'retired' && (
        <Button
          component={Link}
          to={`/keywords/${keyword.id}/edit`}
          leftSection={<Pencil size={16} aria-hidden />}
        >
          Edit
        </Button>
      )}
      {canEdit && <KeywordActions keyword={keyword} />}
    </>
  );
}

function Overview({ keyword }: { keyword: Keyword }) {
  const [params, setParams] = useSearchParams();
  const days = Number(PERIODS.find(({ value }) => value === params.get('days'))?.value ?? 30);
  const bySource = useSeries(keyword.id, days, 'source');
  const bySentiment = useSeries(keyword.id, days, 'sentiment');
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <KeywordState keyword={keyword} />
        <NativeSelect
          aria-label="Period"
          data={PERIODS}
          value={String(days)}
          onChange={({ currentTarget: { value } }) => setParams({ days: value }, { replace: true })}
        />
      </Group>
      <Figures keyword={keyword} bySource={bySource.data} bySentiment={bySentiment.data} />
      <Section
        title="Mentions by day"
        lead="Counted by the UTC day on which Earshot found the mentions. Mentions of the first scan are on the day of that scan, even if they were published earlier."
      >
        <Loaded query={bySource} loading={<LoadingRows rows={1} height={280} />}>
          {(series) =>
            series.total > 0 ? (
              <Suspense fallback={<LoadingRows rows={1} height={280} />}>
                <Charts bySource={series} bySentiment={bySentiment.data} />
              </Suspense>
            ) : (
              <Empty icon={BarChart3} title="Nothing in this period">
                Mentions appear here after a check has found them.
              </Empty>
            )
          }
        </Loaded>
      </Section>
      <TopLists keywordId={keyword.id} days={days} />
      <ShareOfVoice keyword={keyword} days={days} />
      <WatchTable keyword={keyword} />
      <FeedAddresses keywordId={keyword.id} />
    </Stack>
  );
}

interface FiguresProps {
  keyword: Keyword;
  bySource: Series | undefined;
  bySentiment: Series | undefined;
}

function Figures({ keyword, bySource, bySentiment }: FiguresProps) {
  const read = (bySentiment?.total ?? 0) - (bySentiment?.totals.get('') ?? 0);
  const share = (name: string) => percent((bySentiment?.totals.get(name) ?? 0) / read);
  const last = keyword.watches
    .flatMap(({ lastCheckedAt }) => lastCheckedAt ?? [])
    .sort()
    .at(-1);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Figure label="Mentions" value={bySource ? count(bySource.total) : '…'} />
      <Figure
        label="Negative"
        value={!bySentiment ? '…' : read > 0 ? share('negative') : '–'}
        hint={read > 0 ? `${share('positive')} positive` : bySentiment && 'No mention has a sentiment'}
      />
      <Figure
        label="Credits a month"
        value={count(keyword.monthlyCredits)}
        hint="for checks, at present prices"
      />
      <Figure
        label="Last check"
        value={<Time at={last} none="none yet" />}
        hint={plural(keyword.watches.length, 'search', 'searches')}
      />
    </SimpleGrid>
  );
}
