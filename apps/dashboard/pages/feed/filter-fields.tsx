import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { words } from '../../parts/format.js';
import { INTENTS, LABELS, SENTIMENTS, SOURCES } from '../../api/values.js';
import { sourceName } from '../../parts/source.js';
import { NO_FILTERS, timeIn, WINDOWS, type FeedFilters, type Window } from './feed-filters.js';

interface Props {
  filters: FeedFilters;
  change: (changes: Partial<FeedFilters>) => void;
  keywordNames: ReadonlyMap<string, string>;
}

const WINDOW_NAMES: Readonly<Record<Window, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
};

/** The fields of all filters. Each change appears in the address immediately. */
export default function FilterFields({ filters, change, keywordNames }: Props) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 4 }} spacing="sm" mt="sm">
        <Choice
          label="Keyword"
          name="keyword"
          {...{ filters, change }}
          data={[...keywordNames].map(([value, label]) => ({ value, label }))}
        />
        <Choice
          label="Source"
          name="source"
          {...{ filters, change }}
          data={SOURCES.map((value) => ({ value, label: sourceName(value) }))}
        />
        <Choice label="Sentiment" name="sentiment" {...{ filters, change }} data={named(SENTIMENTS)} />
        <Choice label="Intent" name="intent" {...{ filters, change }} data={named(INTENTS)} />
        <Choice label="Label" name="label" {...{ filters, change }} data={named(LABELS)} />
        <Tags label="Author" placeholder="handle" name="author" {...{ filters, change }} />
        <Tags label="Language" placeholder="en, de" name="lang" {...{ filters, change }} />
        <NumberInput
          label="Relevance at least"
          min={0}
          max={100}
          clampBehavior="strict"
          value={filters.minRelevance || ''}
          onChange={(value) => change({ minRelevance: Number(value) || 0 })}
        />
        <Period {...{ filters, change }} />
      </SimpleGrid>
      <Group mt="sm" gap="lg">
        <Checkbox
          label="One row per story"
          checked={filters.stories}
          onChange={({ currentTarget }) => change({ stories: currentTarget.checked })}
        />
        <Checkbox
          label="Also dropped mentions"
          checked={filters.dropped}
          onChange={({ currentTarget }) => change({ dropped: currentTarget.checked })}
        />
        <Button variant="subtle" size="compact-sm" onClick={() => change(NO_FILTERS)}>
          Remove all filters
        </Button>
      </Group>
    </>
  );
}

const named = (values: readonly string[]) => values.map((value) => ({ value, label: words(value) }));

type FieldProps = Omit<Props, 'keywordNames'>;

function Choice({
  label,
  name,
  data,
  filters,
  change,
}: FieldProps & {
  label: string;
  name: 'keyword' | 'source' | 'sentiment' | 'intent' | 'label';
  data: { value: string; label: string }[];
}) {
  return (
    <MultiSelect
      label={label}
      data={data}
      value={filters[name]}
      placeholder={filters[name].length > 0 ? undefined : 'All'}
      clearable
      searchable
      hidePickedOptions
      styles={{ inputField: { minWidth: 40 } }}
      nothingFoundMessage="Nothing with this name"
      onChange={(values) => change({ [name]: values })}
    />
  );
}

function Tags({
  label,
  name,
  placeholder,
  filters,
  change,
}: FieldProps & { label: string; name: 'author' | 'lang'; placeholder: string }) {
  return (
    <TagsInput
      label={label}
      placeholder={filters[name].length > 0 ? undefined : placeholder}
      value={filters[name]}
      clearable
      onChange={(values) => change({ [name]: values })}
    />
  );
}

function Period({ filters, change }: FieldProps) {
  const isOwn = filters.since !== '';
  return (
    <>
      <NativeSelect
        label="Period"
        value={isOwn ? 'own' : filters.window}
        data={[
          ...(Object.keys(WINDOWS) as Window[]).map((value) => ({ value, label: WINDOW_NAMES[value] })),
          { value: 'own', label: 'Own period' },
        ]}
        onChange={({ currentTarget: { value } }) =>
          value === 'own'
            ? change({ since: new Date(Date.now() - 7 * 86_400_000).toISOString() })
            : change({ window: value as Window, since: '', until: '' })
        }
      />
      {isOwn && (
        <>
          <TimeField
            label="From"
            instant={filters.since}
            change={(since) => change({ since: since || filters.since })}
          />
          <TimeField label="Until" instant={filters.until} change={(until) => change({ until })} />
        </>
      )}
    </>
  );
}

interface TimeFieldProps {
  label: string;
  instant: string;
  change: (instant: string) => void;
}

/**
 * The field of a time. While a person types, each digit makes another valid time, for example in the year 2. So the
 * time is used when the field loses the focus, or when Enter is pressed.
 */
function TimeField({ label, instant, change }: TimeFieldProps) {
  const [draft, setDraft] = useState<string>();
  const use = () => {
    if (draft === undefined) return;
    setDraft(undefined);
    if (draft !== localOf(instant)) change(timeIn(draft));
  };
  return (
    <TextInput
      label={label}
      type="datetime-local"
      // Without a maximum, the browser accepts years with six digits.
      max="9999-12-31T00:00"
      value={draft ?? localOf(instant)}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={use}
      onKeyDown={({ key }) => key === 'Enter' && use()}
    />
  );
}

/** Converts an instant to the format of the browser's input field, in the viewer's zone. */
function localOf(instant: string): string {
  if (!instant) return '';
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
