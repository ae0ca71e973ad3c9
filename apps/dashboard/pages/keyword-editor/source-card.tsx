import {
  ActionIcon,
  Box,
  Button,
  Collapse,
  Group,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight, Plus, Trash2 } from 'lucide-react';
import { FieldFault } from '../../parts/answer-fields.js';
import { duration, plural } from '../../parts/format.js';
import { SourceName } from '../../parts/source.js';
import { useDraft, type DraftSource } from './draft.js';
import { IntervalField } from './interval-field.js';
import { SearchFields } from './search-fields.js';

interface Props {
  path: string;
  entry: DraftSource;
  floorSeconds: number | undefined;
}

/** The interval and the searches of one source. */
export function SourceCard({ path, entry, floorSeconds }: Props) {
  const form = useDraft();
  const hasFault = Object.keys(form.errors).some((name) => name === path || name.startsWith(`${path}.`));
  const [isOpen, { toggle }] = useDisclosure(entry.source === 'rss' || entry.source === 'ai_answers');
  const isShown = isOpen || hasFault;
  const Chevron = isShown ? ChevronDown : ChevronRight;
  return (
    <Box className="card" p="sm">
      <UnstyledButton onClick={toggle} aria-expanded={isShown} w="100%">
        <Group gap="xs">
          <Chevron size={16} aria-hidden />
          <SourceName source={entry.source} />
          <Text size="xs" c="dimmed">
            {entry.searches.length === 0
              ? 'the terms above'
              : plural(entry.searches.length, 'separate search', 'separate searches')}
            {entry.refreshIntervalSeconds ? `, every ${duration(entry.refreshIntervalSeconds)}` : ''}
          </Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={isShown}>
        <Stack gap="md" mt="sm">
          <FieldFault
            text={['', '.source', '.enabled', '.searches']
              .map((end) => form.errors[path + end])
              .find(Boolean)}
          />
          <IntervalField
            label="Look every"
            path={`${path}.refreshIntervalSeconds`}
            empty="as above"
            description={floorSeconds ? `At least ${duration(floorSeconds)} on your plan` : undefined}
          />
          {entry.searches.map((search, index) => (
            <Box key={search.id ?? index} className="card" p="sm">
              <Group justify="space-between" mb="xs" wrap="nowrap">
                <TextInput
                  size="xs"
                  flex={1}
                  aria-label="Name of the search"
                  placeholder={`Search ${index + 1}`}
                  maxLength={80}
                  {...form.getInputProps(`${path}.searches.${index}.label`)}
                  value={search.label ?? ''}
                />
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove search ${index + 1}`}
                  onClick={() => form.removeListItem(`${path}.searches`, index)}
                >
                  <Trash2 size={15} aria-hidden />
                </ActionIcon>
              </Group>
              <SearchFields source={entry.source} path={`${path}.searches.${index}`} search={search} />
            </Box>
          ))}
          <div>
            <Button
              size="xs"
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              onClick={() =>
                form.insertListItem(`${path}.searches`, { overridesEnabled: true, overrides: { terms: [] } })
              }
            >
              Add a search with separate criteria
            </Button>
          </div>
        </Stack>
      </Collapse>
    </Box>
  );
}
