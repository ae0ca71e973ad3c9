import { Group, NativeSelect, NumberInput, Text, Title } from '@mantine/core';
import { useCanEdit } from '../../api/session.js';
import type { Mention } from '../../api/types.js';
import { words } from '../../parts/format.js';
import { INTENTS, SENTIMENTS } from '../../api/values.js';
import { feedMention } from './feed-mention.js';
import type { MentionChange, useChanges } from './use-changes.js';

interface Props {
  mention: Mention;
  changes: ReturnType<typeof useChanges>;
}

/** The readings of the mention, and the fields that correct them. An empty field removes a correction. */
export function Corrections({ mention, changes }: Props) {
  const canEdit = useCanEdit();
  const row = changes.withChanges(feedMention(mention));
  const { analysis, corrected = [] } = row;
  const change = (part: MentionChange) => changes.change(row, part);
  const hint = (name: 'sentiment' | 'intent' | 'relevance') =>
    corrected.includes(name) ? 'corrected by a person' : undefined;
  return (
    <div>
      <Title order={3}>Readings</Title>
      {analysis?.reason && (
        <Text size="sm" c="dimmed" className="foreign">
          {analysis.reason}
        </Text>
      )}
      <Group mt="xs" gap="sm" align="flex-start" grow wrap="wrap">
        <NativeSelect
          label="Sentiment"
          description={hint('sentiment')}
          disabled={!canEdit}
          value={analysis?.sentiment ?? ''}
          data={[
            { value: '', label: 'Not read' },
            ...SENTIMENTS.map((value) => ({ value, label: words(value) })),
          ]}
          onChange={({ currentTarget: { value } }) => change({ sentiment: value || null })}
        />
        <NativeSelect
          label="Intent"
          description={hint('intent')}
          disabled={!canEdit}
          value={analysis?.intent ?? ''}
          data={[
            { value: '', label: 'Not read' },
            ...INTENTS.map((value) => ({ value, label: words(value) })),
          ]}
          onChange={({ currentTarget: { value } }) => change({ intent: value || null })}
        />
        <RelevanceField
          key={analysis?.relevance ?? 'none'}
          relevance={analysis?.relevance ?? null}
          description={hint('relevance')}
          isDisabled={!canEdit}
          change={(relevance) => change({ relevance })}
        />
      </Group>
    </div>
  );
}

interface RelevanceProps {
  relevance: number | null;
  description: string | undefined;
  isDisabled: boolean;
  change: (relevance: number | null) => void;
}

/** The field of the relevance. The value is saved when the field loses the focus, not with each digit. */
function RelevanceField({ relevance, description, isDisabled, change }: RelevanceProps) {
  return (
    <NumberInput
      label="Relevance"
      description={description}
      min={0}
      max={100}
      clampBehavior="blur"
      disabled={isDisabled}
      defaultValue={relevance ?? ''}
      onBlur={({ currentTarget: { value } }) => {
        const next = value.trim() === '' ? null : Math.min(100, Math.max(0, Math.round(Number(value))));
        if (next !== relevance && !Number.isNaN(next)) change(next);
      }}
    />
  );
}
