import { ActionIcon, Box, Group, Stack, Text, Textarea } from '@mantine/core';
import { Trash2 } from 'lucide-react';
import { AnswerFields, FieldFault } from '../../parts/answer-fields.js';
import { useDraft, type DraftAgentStep } from './draft.js';

/** The fields of the agent step: an instruction for every event, and the fields of the model's answer. */
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
        <FieldFault text={form.errors['aiStep']} />
        <AnswerFields form={form} path="aiStep.fields" fields={step.fields} />
        <FieldFault text={form.errors['aiStep.schema']} />
      </Stack>
    </Box>
  );
}
