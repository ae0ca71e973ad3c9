import { ActionIcon, Button, Group, SegmentedControl, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ArrowRight, Download, Search, SlidersHorizontal } from 'lucide-react';
import { lazy, Suspense, useState, type RefObject } from 'react';
import { credits } from '../../parts/format.js';
import classes from './feed.module.css';
import { apiFilters, isNarrowed, writeFilters, type FeedFilters } from './feed-filters.js';
import { ViewsButton } from './views-button.js';
import type { useFeed } from './use-feed.js';

const FilterFields = lazy(() => import('./filter-fields.js'));
const ExportDialog = lazy(() => import('./export-dialog.js'));

interface Props {
  filters: FeedFilters;
  address: string;
  change: (changes: Partial<FeedFilters>) => void;
  feed: ReturnType<typeof useFeed>;
  keywordNames: ReadonlyMap<string, string>;
  search: RefObject<HTMLInputElement | null>;
  /** Called when the member has agreed to the price of the search with this address. */
  onAgree: (address: string) => void;
}

/** Search, filters, saved views and export of the feed. */
export function FeedBar({ filters, address, change, feed, keywordNames, search, onAgree }: Props) {
  // On a small screen, the open fields would leave no room for the mentions.
  const [areFiltersOpen, filterFields] = useDisclosure(
    isNarrowed({ ...filters, q: '' }) && matchMedia('(min-width: 62em) and (min-height: 40em)').matches,
  );
  // The time does not change while the dialog is open. Otherwise the dialog would count the mentions again and again.
  const [exportTime, setExportTime] = useState<number>();
  return (
    <div className={classes.bar}>
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <Title order={1} fz="1.25rem">
            Feed
          </Title>
          <LiveDot state={feed.liveState} isOff={feed.query.mode === 'semantic' || filters.until !== ''} />
        </Group>
        <Group gap="xs">
          <ViewsButton address={address} />
          <ActionIcon
            title="Export what these filters show"
            variant="default"
            size={36}
            aria-label="Export"
            onClick={() => setExportTime(Date.now())}
          >
            <Download size={17} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <Group mt="sm" gap="xs" wrap="wrap">
        <SearchField key={`${filters.q}|${filters.mode}`} {...{ filters, change, search, onAgree }} />
        <Button
          variant={areFiltersOpen ? 'light' : 'default'}
          leftSection={<SlidersHorizontal size={16} aria-hidden />}
          aria-expanded={areFiltersOpen}
          onClick={filterFields.toggle}
        >
          Filters
        </Button>
      </Group>
      <Suspense>
        {areFiltersOpen && <FilterFields filters={filters} change={change} keywordNames={keywordNames} />}
      </Suspense>
      <Suspense>
        {exportTime !== undefined && (
          <ExportDialog filters={apiFilters(filters, exportTime)} close={() => setExportTime(undefined)} />
        )}
      </Suspense>
      {feed.read.creditsUsed > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          This search cost {credits(feed.read.creditsUsed)}.
        </Text>
      )}
    </div>
  );
}

type SearchProps = Pick<Props, 'filters' | 'change' | 'search' | 'onAgree'>;

function SearchField({ filters, change, search, onAgree }: SearchProps) {
  const [text, setText] = useState(filters.q);
  const [mode, setMode] = useState(filters.mode);
  const isMeaning = mode === 'semantic';
  const submit = () => {
    const changes = { q: text.trim(), mode: text.trim() ? mode : 'text' } as const;
    // The button shows the price, so pressing it is the consent.
    if (isMeaning) onAgree(writeFilters({ ...filters, ...changes }).toString());
    change(changes);
  };
  return (
    <form
      role="search"
      style={{ flex: '1 1 22rem', display: 'flex', gap: 8, flexWrap: 'wrap' }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextInput
        ref={search}
        style={{ flex: '1 1 12rem' }}
        leftSection={<Search size={16} aria-hidden />}
        placeholder={isMeaning ? 'A question, in a sentence' : 'Words, or "a phrase"'}
        aria-label="Search mentions"
        rightSection={
          !isMeaning && (
            <ActionIcon type="submit" variant="subtle" color="gray" aria-label="Search">
              <ArrowRight size={16} aria-hidden />
            </ActionIcon>
          )
        }
        maxLength={isMeaning ? 1000 : 200}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
      <SegmentedControl
        size="sm"
        aria-label="How to search"
        value={mode}
        onChange={(value) => setMode(value as FeedFilters['mode'])}
        data={[
          { value: 'text', label: 'Words' },
          { value: 'semantic', label: 'Meaning' },
        ]}
      />
      {isMeaning && (
        <Button type="submit" disabled={text.trim() === ''}>
          Search · 2 credits
        </Button>
      )}
    </form>
  );
}

const STATES = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Reconnecting',
} as const;

function LiveDot({ state, isOff }: { state: keyof typeof STATES; isOff: boolean }) {
  if (isOff) return null;
  return (
    <Group gap={6} role="status">
      <span className={classes.dot} data-state={state} />
      <Text size="xs" c="dimmed">
        {STATES[state]}
      </Text>
    </Group>
  );
}
