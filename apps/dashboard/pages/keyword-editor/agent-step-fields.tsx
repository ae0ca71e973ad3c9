import {
  ActionIcon,
  Box,
  Button,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import { useDraft, type DraftAgentStep } from './draft.js';

const TYPES = [
  { value: 'string', label: 'text' },
  { value: 'number', label: 'number' },
  { value: 'boolean', label: 'yes or no' },
  { value: 'enum', label: 'one of' },
];
const MOST_FIELDS = 12;

/** An instruction for every event, and the fields of its answer. */
export function AgentStepFields({ step }: { step: DraftAgentStep }) {
  const form = useDraft();
  return (
    <Box className="card" p="sm">
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={600} size="sm">
            Agent step (2 credits for each answered event)
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Remove the agent step"
            onClick={() => form.setFieldValue('aiStep', null)}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </Group>
        <Textarea
          label="Instruction"
          autosize
          minRows={2}
          maxLength={800}
          required
          {...form.getInputProps('aiStep.instruction')}
          error={form.errors['aiStep.instruction']}
        />
        {form.errors['aiStep'] && (
          <Text size="xs" c="var(--mantine-color-error)">
            {form.errors['aiStep']}
          </Text>
        )}
        {step.fields.map((field, index) => (
          <Group key={index} align="flex-end" gap="xs" wrap="wrap">
            <TextInput
              label="Field"
              w={130}
              size="xs"
              error={form.errors[`aiStep.schema.${field.name}`]}
              {...form.getInputProps(`aiStep.fields.${index}.name`)}
            />
            <NativeSelect
              label="Type"
              w={110}
              size="xs"
              data={TYPES}
              {...form.getInputProps(`aiStep.fields.${index}.type`)}
            />
            {field.type === 'enum' && (
              <TagsInput
                label="Values"
                size="xs"
                miw={160}
                {...form.getInputProps(`aiStep.fields.${index}.values`)}
                value={field.values ?? []}
              />
            )}
            {field.type === 'string' && (
              <NumberInput
                label="Length at most"
                size="xs"
                w={110}
                min={1}
                {...form.getInputProps(`aiStep.fields.${index}.maxLength`)}
                value={field.maxLength ?? ''}
              />
            )}
            <TextInput
              label="Description"
              size="xs"
              flex={1}
              miw={140}
              maxLength={200}
              {...form.getInputProps(`aiStep.fields.${index}.description`)}
              value={field.description ?? ''}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove field ${index + 1}`}
              onClick={() => form.removeListItem('aiStep.fields', index)}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {step.fields.length < MOST_FIELDS && (
          <div>
            <Button
              size="xs"
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              onClick={() => form.insertListItem('aiStep.fields', { name: '', type: 'string' })}
            >
              Add a field
            </Button>
          </div>
        )}
      </Stack>
    </Box>
  );
}
