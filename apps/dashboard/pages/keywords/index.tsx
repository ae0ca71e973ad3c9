import { Anchor, Button, Group, NativeSelect, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Plus, Search, SearchX, Tags } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import type { Keyword } from '../../api/types.js';
import { usePages } from '../../api/use-pages.js';
import { count, duration, short } from '../../parts/format.js';
import { KeywordState } from '../../parts/keyword-state.js';
import { Page } from '../../parts/page.js';
import { Sparkline } from '../../parts/sparkline.js';
import { SourceName } from '../../parts/source.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';

const DAYS = 14;
const STATES = [
  { value: '', label: 'Active and paused' },
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'retired', label: 'Retired' },
];

/**
 * The keywords with the chosen name and state, with the counts of their recent mentions. Retired keywords are listed only
 * if this state is chosen.
 */
export function Component() {
  const canEdit = useCanEdit();
  const [params, setParams] = useSearchParams();
  const [text, setText] = useState(params.get('q') ?? '');
  const [q] = useDebouncedValue(text.trim(), 250);
  const state = params.get('state') ?? '';
  const keywords = useKeywords(state, q);
  return (
    <Page
      title="Keywords"
      lead="What Earshot looks for, in which sources, and how often."
      actions={
        canEdit && (
          <>
            <Button component={Link} to="/start" variant="default">
              Guided start
            </Button>
            <Button component={Link} to="/keywords/new" leftSection={<Plus size={16} aria-hidden />}>
              New keyword
            </Button>
          </>
        )
      }
    >
      <Group gap="sm">
        <TextInput
          aria-label="Name contains"
          placeholder="Name"
          leftSection={<Search size={16} aria-hidden />}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <NativeSelect
          aria-label="State"
          data={STATES}
          value={state}
          onChange={({ currentTarget: { value } }) =>
            setParams(value ? { state: value } : {}, { replace: true })
          }
        />
      </Group>
      <Loaded query={keywords}>
        {(found) =>
          found.length > 0 ? (
            <KeywordTable keywords={found} />
          ) : (
            <NoKeyword isFiltered={q !== '' || state !== ''} />
          )
        }
      </Loaded>
      <More query={keywords} />
    </Page>
  );
}

function useKeywords(state: string, q: string) {
  const states = state === '' ? ['active', 'paused'] : [state];
  const filters = { state: states as Keyword['state'][], ...(q && { q }) };
  return usePages(['/v1/keywords', 'list', state, q], (page, signal) =>
    api.get('/v1/keywords', { query: { ...filters, ...page }, signal }),
  );
}

function NoKeyword({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty icon={SearchX} title="No keyword with this name and state" />;
  return (
    <Empty
      icon={Tags}
      title="No active or paused keyword"
      action={
        <Button component={Link} to="/start">
          Watch a brand
        </Button>
      }
    >
      A keyword defines which words Earshot looks for, in which sources, and what happens with the mentions.
    </Empty>
  );
}

function KeywordTable({ keywords }: { keywords: readonly Keyword[] }) {
  const counts = useDailyCounts();
  return (
    <DataTable
      label="Keywords"
      head={['Keyword', 'State', `Last ${DAYS} days`, 'Sources', 'Every', 'Credits a month']}
      minWidth={720}
    >
      {keywords.map((keyword) => (
        <KeywordLine
          key={keyword.id}
          keyword={keyword}
          counts={counts?.get(keyword.id)}
          isCounted={counts !== undefined}
        />
      ))}
    </DataTable>
  );
}

interface LineProps {
  keyword: Keyword;
  counts: readonly number[] | undefined;
  isCounted: boolean;
}

function KeywordLine({ keyword, counts, isCounted }: LineProps) {
  const total = (counts ?? []).reduce((sum, n) => sum + n, 0);
  const enabled = keyword.sources.filter((entry) => entry.enabled);
  return (
    <Table.Tr>
      <Table.Td maw={280}>
        <Anchor component={Link} to={`/keywords/${keyword.id}`} fw={600} className="foreign">
          {keyword.name}
        </Anchor>
        <Text size="xs" c="dimmed" truncate className="foreign">
          {[keyword.globalCriteria.query, ...(keyword.globalCriteria.terms ?? [])]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <KeywordState keyword={keyword} />
      </Table.Td>
      <Table.Td>
        <Group gap="sm" wrap="nowrap" miw={150}>
          <Sparkline counts={counts ?? []} />
          <Text size="sm" className="tabular">
            {isCounted ? short(total) : '…'}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td maw={240}>
        <Group gap="4px 10px">
          {enabled.slice(0, 3).map(({ source }) => (
            <SourceName key={source} source={source} size="xs" />
          ))}
          {enabled.length > 3 && (
            <Text size="xs" c="dimmed">
              and {enabled.length - 3} more
            </Text>
          )}
        </Group>
      </Table.Td>
      <Table.Td>{duration(keyword.refreshIntervalSeconds)}</Table.Td>
      <Table.Td>{count(keyword.monthlyCredits)}</Table.Td>
    </Table.Tr>
  );
}

/** Reads the number of mentions of each keyword by day, the oldest day first. */
function useDailyCounts(): ReadonlyMap<string, readonly number[]> | undefined {
  const { data } = useQuery({
    queryKey: ['/v1/mentions/series', 'keywords', DAYS],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - DAYS * 86_400_000).toISOString();
      const series = await api.get('/v1/mentions/series', {
        query: { bucket: 'day', group: 'keyword', since },
        signal,
      });
      const counts = new Map<string, number[]>();
      for (const { group, count: n } of series.data)
        if (group !== null) counts.set(group, [...(counts.get(group) ?? []), n]);
      return counts;
    },
    staleTime: 60_000,
  });
  return data;
}
