import { Group, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core';
import { Section } from '../../parts/section.js';
import { useDraft } from './draft.js';
import { IntervalField } from './interval-field.js';

export const MATCHES = [
  { value: 'word', label: 'whole words' },
  { value: 'contains', label: 'part of a word too' },
  { value: 'platform', label: 'as the source’s own search' },
];

/** Name, terms and how they match. */
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
          description="Names, spellings, hashtags. Enter or a comma ends one."
          placeholder={form.values.globalCriteria.terms.length > 0 ? undefined : 'Acme Rocket'}
          clearable
          splitChars={[',', '\n']}
          {...form.getInputProps('globalCriteria.terms')}
        />
        <TextInput
          label="And all of this (optional)"
          description="Words that must appear as well, for a name that is also an ordinary word."
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
      </Stack>
    </Section>
  );
}
