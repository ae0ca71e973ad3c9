import {
  Group,
  JsonInput,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { Source } from '../../api/types.js';
import { useDraft, type DraftSearch } from './draft.js';
import { MATCHES } from './matches.js';

interface Props {
  source: Source;
  /** Path of the search in the draft. */
  path: string;
  search: DraftSearch;
}

/** Shows the criteria of one search. If these criteria are enabled, each replaces the same criterion of the keyword. */
export function SearchFields({ source, path, search }: Props) {
  const form = useDraft();
  const own = `${path}.overrides`;
  return (
    <Stack gap="sm">
      {source === 'rss' && (
        <FilterList
          path={own}
          name="feed_urls"
          label="Feeds"
          description="Press Enter or type a space after each."
          placeholder="https://example.com/feed.xml"
          // An address can contain a comma.
          splitChars={[' ', '\n']}
        />
      )}
      {source === 'ai_answers' && (
        <>
          <FilterText path={own} name="prompt" label="The question that every engine is asked" />
          <FilterList
            path={own}
            name="brands"
            label="Brands to look for in the answers"
            description="Press Enter or type a comma after each."
            placeholder="Acme, Globex"
            // A name can contain a space.
            splitChars={[',', '\n']}
          />
        </>
      )}
      <Switch
        label="Use the criteria of this search instead of the keyword’s"
        checked={search.overridesEnabled ?? true}
        onChange={({ currentTarget }) =>
          form.setFieldValue(`${path}.overridesEnabled`, currentTarget.checked)
        }
      />
      <TagsInput
        label="One of these must appear"
        clearable
        splitChars={[',', '\n']}
        {...form.getInputProps(`${own}.terms`)}
      />
      <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
        <TextInput label="And all of this" miw={160} {...text(form.getInputProps(`${own}.query`))} />
        <NativeSelect
          label="Terms match"
          miw={150}
          data={[{ value: '', label: 'as in the keyword' }, ...MATCHES]}
          {...text(form.getInputProps(`${own}.match`))}
        />
        <TextInput label="Market" miw={100} {...text(form.getInputProps(`${own}.market`))} />
      </Group>
      <MoreCriteria path={own} sources={[source]} />
    </Stack>
  );
}

/** Shows criteria of a search or of the keyword that only some sources support. */
export function MoreCriteria({ path, sources }: { path: string; sources: readonly Source[] }) {
  const form = useDraft();
  return (
    <>
      <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
        {sources.includes('vinted') && (
          <>
            <NumberInput
              label="Price from"
              miw={110}
              min={0}
              {...text(form.getInputProps(`${path}.priceMin`))}
            />
            <NumberInput
              label="Price to"
              miw={110}
              min={0}
              {...text(form.getInputProps(`${path}.priceMax`))}
            />
          </>
        )}
        {sources.includes('x') && (
          <TextInput
            label="Replies to"
            miw={130}
            maxLength={16}
            {...text(form.getInputProps(`${path}.repliesTo`))}
          />
        )}
        <TextInput label="Sort" miw={110} {...text(form.getInputProps(`${path}.sort`))} />
        <NumberInput
          label="Page of the results"
          miw={130}
          min={1}
          allowDecimal={false}
          {...text(form.getInputProps(`${path}.page`))}
        />
        <NumberInput
          label="Results per page"
          miw={130}
          min={1}
          allowDecimal={false}
          {...text(form.getInputProps(`${path}.perPage`))}
        />
      </Group>
      <OtherFilters path={path} />
    </>
  );
}

/** Replaces an absent value with an empty text, so that the input is empty. */
const text = <T extends { value?: unknown }>(props: T) => ({ ...props, value: (props.value ?? '') as never });

function useFilter(path: string, name: string) {
  const form = useDraft();
  const { value, onChange } = form.getInputProps(`${path}.filters`) as {
    value: Record<string, unknown> | string | undefined;
    onChange: (value: Record<string, unknown>) => void;
  };
  const error = form.errors[`${path}.filters.${name}`] ?? form.errors[`${path}.filters`];
  // If the value is a text, the member has not finished the JSON in `OtherFilters`. Such a text has no parts that could
  // be changed.
  const filters = typeof value === 'string' ? undefined : (value ?? {});
  return {
    value: filters?.[name],
    error,
    disabled: filters === undefined,
    set: (next: unknown) => filters && onChange({ ...filters, [name]: next }),
  };
}

function FilterList({
  path,
  name,
  label,
  description,
  placeholder,
  splitChars,
}: {
  path: string;
  name: string;
  label: string;
  description: string;
  placeholder: string;
  splitChars: string[];
}) {
  const { value, error, disabled, set } = useFilter(path, name);
  const values = Array.isArray(value) ? value.map(String) : [];
  return (
    <TagsInput
      label={label}
      description={description}
      placeholder={values.length > 0 ? undefined : placeholder}
      splitChars={splitChars}
      acceptValueOnBlur
      value={values}
      error={error}
      disabled={disabled}
      onChange={set}
    />
  );
}

function FilterText({ path, name, label }: { path: string; name: string; label: string }) {
  const { value, error, disabled, set } = useFilter(path, name);
  return (
    <Textarea
      label={label}
      autosize
      minRows={2}
      maxLength={1000}
      value={String(value ?? '')}
      error={error}
      disabled={disabled}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

/** Shows all filters as JSON. The source defines their keys, and Earshot stores the filters unchanged. */
function OtherFilters({ path }: { path: string }) {
  const form = useDraft();
  // A text that is not a JSON object stays in the draft as it is, so that the API refuses it and nothing is saved without it.
  const { value, onChange } = form.getInputProps(`${path}.filters`) as {
    value: object | string | undefined;
    onChange: (value: object | string | undefined) => void;
  };
  const stored =
    typeof value === 'string'
      ? value
      : value && Object.keys(value).length > 0
        ? JSON.stringify(value, null, 2)
        : '';
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? stored;
  return (
    <JsonInput
      label="Filters of the sources (JSON)"
      description="The documentation of each source lists its keys."
      autosize
      minRows={1}
      maxRows={10}
      formatOnBlur
      validationError="This is not a JSON object"
      value={shown}
      error={form.errors[`${path}.filters`]}
      onChange={(next) => {
        setTyped(next);
        onChange(next.trim() === '' ? undefined : (objectIn(next) ?? next));
      }}
      onBlur={() => {
        if (shown.trim() === '' || objectIn(shown) !== null) setTyped(undefined);
      }}
    />
  );
}

function objectIn(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
