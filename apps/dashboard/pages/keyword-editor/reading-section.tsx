import { Button, Group, NativeSelect, NumberInput, Stack, Switch, TagsInput, Textarea } from '@mantine/core';
import { newField } from '../../parts/answer-schema.js';
import { Section } from '../../parts/section.js';
import { AgentStepFields } from './agent-step-fields.js';
import { useDraft } from './draft.js';

const PRESETS = [
  { value: '', label: 'no buckets' },
  { value: 'product-model', label: 'by product' },
  { value: 'theme-sentiment', label: 'by theme and sentiment' },
  { value: 'seller', label: 'by seller' },
  { value: 'duplicates', label: 'by story' },
  { value: 'custom', label: 'as I describe in my words' },
];

/** Shows the settings of the readings, and which mentions are dropped because of a reading. */
export function ReadingSection() {
  const form = useDraft();
  const { aiStep } = form.values;
  return (
    <Section title="How to read mentions" lead="Relevance, language and story are always read, and free.">
      <Stack>
        <Switch
          label="Read sentiment and intent (1 credit for each kept mention)"
          {...form.getInputProps('sentimentEnabled', { type: 'checkbox' })}
        />
        <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
          <NumberInput
            label="Relevance at least"
            description="From 0 to 100. Mentions with less relevance are dropped, and not charged"
            miw={200}
            min={0}
            max={100}
            allowDecimal={false}
            placeholder="keep everything"
            {...form.getInputProps('minRelevance')}
          />
          <TagsInput
            label="Languages"
            description="Codes such as en, pt-BR. Mentions in other languages are dropped"
            miw={200}
            placeholder={form.values.languages.length > 0 ? undefined : 'all'}
            clearable
            {...form.getInputProps('languages')}
          />
        </Group>
        <Switch
          label="Sort mentions into buckets (1 credit for each mention that gets a bucket)"
          {...form.getInputProps('aiEnabled', { type: 'checkbox' })}
        />
        <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
          <NativeSelect label="Buckets" miw={200} data={PRESETS} {...form.getInputProps('aiPreset')} />
          <Textarea
            label="What is relevant, and which buckets, in your words"
            description="Such as: the airline, not the river"
            miw={240}
            autosize
            minRows={1}
            maxLength={400}
            {...form.getInputProps('aiPrompt')}
          />
        </Group>
        <Switch
          label="Find brands other than the subject (in AI answers: 2 credits for each engine)"
          {...form.getInputProps('coBrandsEnabled', { type: 'checkbox' })}
        />
        {aiStep ? (
          <AgentStepFields step={aiStep} />
        ) : (
          <div>
            <Button
              variant="default"
              size="xs"
              onClick={() => form.setFieldValue('aiStep', { instruction: '', fields: [newField()] })}
            >
              Add an agent step
            </Button>
          </div>
        )}
      </Stack>
    </Section>
  );
}
