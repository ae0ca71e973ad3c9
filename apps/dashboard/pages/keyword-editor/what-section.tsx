import { Button, Collapse, Group, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { Section } from '../../parts/section.js';
import { useDraft } from './draft.js';
import { IntervalField } from './interval-field.js';
import { MATCHES } from './matches.js';
import { MoreCriteria } from './search-fields.js';

/** The name, the terms, and how the terms match. */
export function WhatSection() {
  const form = useDraft();
  return (
    <Section title="What to listen for">
      <Stack>
        <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
          <TextInput label="Name" required maxLength={80} miw={220} {...form.getInputProps('name')} />
          <NativeSelect
            label="The subject is"
            miw={180}
            data={[
              { value: 'own', label: 'our own' },
              { value: 'competitor', label: 'a competitor' },
              { value: 'topic', label: 'a topic' },
            ]}
            {...form.getInputProps('subjectRole')}
          />
        </Group>
        <TagsInput
          label="One of these must appear"
          description="Names, spellings, hashtags. Press Enter or type a comma after each."
          placeholder={form.values.globalCriteria.terms.length > 0 ? undefined : 'Acme Rocket'}
          clearable
          splitChars={[',', '\n']}
          {...form.getInputProps('globalCriteria.terms')}
        />
        <TextInput
          label="And all of this (optional)"
          description="Words that must also appear. Use them if the name is also an ordinary word."
          {...form.getInputProps('globalCriteria.query')}
        />
        <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
          <NativeSelect
            label="Terms match"
            miw={180}
            data={MATCHES}
            {...form.getInputProps('globalCriteria.match')}
          />
          <IntervalField label="Look every" path="refreshIntervalSeconds" />
          <TextInput
            label="Market"
            miw={120}
            description="global, or a country of the source"
            {...form.getInputProps('globalCriteria.market')}
          />
        </Group>
        <CriteriaOfAllSources />
      </Stack>
    </Section>
  );
}

const RARE_CRITERIA = ['priceMin', 'priceMax', 'repliesTo', 'sort', 'page', 'perPage', 'filters'] as const;

/**
 * Rarely used criteria. They are visible if the member opens them, if the keyword has such a criterion, or if the API
 * reports a fault in such a criterion.
 */
function CriteriaOfAllSources() {
  const form = useDraft();
  const { globalCriteria, sources } = form.values;
  const isUsed = RARE_CRITERIA.some(
    (name) =>
      globalCriteria[name] !== undefined ||
      Object.keys(form.errors).some((path) => path.startsWith(`globalCriteria.${name}`)),
  );
  const [isOpen, { toggle }] = useDisclosure(false);
  const isShown = isOpen || isUsed;
  const Chevron = isShown ? ChevronDown : ChevronRight;
  return (
    <div>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={isShown}
        onClick={toggle}
      >
        More criteria for all sources
      </Button>
      <Collapse expanded={isShown}>
        <Stack gap="sm" mt="xs">
          <MoreCriteria path="globalCriteria" sources={sources.map(({ source }) => source)} />
        </Stack>
      </Collapse>
    </div>
  );
}
