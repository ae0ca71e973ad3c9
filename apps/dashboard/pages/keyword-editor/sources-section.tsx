import { Chip, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { Source } from '../../api/types.js';
import { Section } from '../../parts/section.js';
import { sourceName } from '../../parts/source.js';
import { SOURCES } from '../../api/values.js';
import { useDraft, newEntry } from './draft.js';
import { SourceCard } from './source-card.js';

/** The sources, each with its own settings. */
export function SourcesSection() {
  const form = useDraft();
  const sources = useQuery({
    queryKey: ['/v1/sources'],
    queryFn: ({ signal }) => api.get('/v1/sources', { signal }),
  });
  const states = new Map(sources.data?.data.map((source) => [source.id, source]));
  const { sources: entries } = form.values;
  const toggle = (source: Source) => {
    const index = entries.findIndex((entry) => entry.source === source);
    if (index < 0) form.insertListItem('sources', newEntry(source));
    else form.setFieldValue(`sources.${index}.enabled`, !entries[index]?.enabled);
  };
  return (
    <Section title="Where" lead="If you switch a source off, its searches are paused but not deleted.">
      <Group gap={6}>
        {SOURCES.map((source) => {
          const state = states.get(source);
          const isOn = entries.some((entry) => entry.source === source && entry.enabled);
          const isReady = state === undefined || (state.configured && state.enabled);
          const chip = (
            <Chip
              key={source}
              size="sm"
              checked={isOn}
              disabled={!isReady && !isOn}
              onChange={() => toggle(source)}
            >
              {sourceName(source)}
            </Chip>
          );
          return isReady ? (
            chip
          ) : (
            <Tooltip
              key={source}
              label={state.reason ?? `Set ${state.missingSettings.join(', ')}`}
              multiline
              maw={320}
            >
              <span>{chip}</span>
            </Tooltip>
          );
        })}
      </Group>
      {form.errors['sources'] && (
        <Text size="xs" c="var(--mantine-color-error)" mt="xs">
          {form.errors['sources']}
        </Text>
      )}
      <Stack mt="md" gap="sm">
        {entries.map(
          (entry, index) =>
            entry.enabled && (
              <SourceCard
                key={entry.source}
                path={`sources.${index}`}
                entry={entry}
                floorSeconds={states.get(entry.source)?.intervalFloorSeconds}
              />
            ),
        )}
      </Stack>
    </Section>
  );
}
