import { ActionIcon, Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Section } from '../../parts/section.js';
import { sourceName } from '../../parts/source.js';
import { SOURCES } from '../../api/values.js';
import { useDraft } from './draft.js';

const ANY_SOURCE = [
  { value: '', label: 'every source' },
  ...SOURCES.map((value) => ({ value, label: sourceName(value) })),
];
const TARGETS = ['text', 'title', 'body', 'author', 'community'].map((value) => ({
  value,
  label: `in the ${value}`,
}));
const MATCHES = [
  { value: 'word', label: 'as a word' },
  { value: 'contains', label: 'as a part' },
  { value: 'exact', label: 'exactly' },
];

const TEXT_FIELD = { size: 'xs', flex: 1, miw: 140 };

/** Shows mutes (which mentions are dropped) and VIPs (authors whose mentions are marked). */
export function NoiseSection() {
  const form = useDraft();
  const { muteRules, vipAuthors } = form.values;
  return (
    <Section
      title="Mutes and VIPs"
      lead="A muted mention is stored with the reason, but it is neither sent nor charged."
    >
      <Stack gap="xs">
        {muteRules.map((_, index) => (
          <Entry key={index} list="muteRules" index={index} name={`mute ${index + 1}`}>
            <TextInput
              {...TEXT_FIELD}
              maxLength={60}
              aria-label={`Mute ${index + 1}`}
              placeholder="giveaway"
              {...form.getInputProps(`muteRules.${index}.value`)}
            />
            <NativeSelect
              size="xs"
              aria-label="Where"
              data={TARGETS}
              {...form.getInputProps(`muteRules.${index}.target`)}
            />
            <NativeSelect
              size="xs"
              aria-label="How"
              data={MATCHES}
              {...form.getInputProps(`muteRules.${index}.match`)}
            />
          </Entry>
        ))}
        <Add
          label="Mute something"
          isFull={muteRules.length >= 50}
          add={() =>
            form.insertListItem('muteRules', { value: '', target: 'text', match: 'word', source: null })
          }
        />
        {vipAuthors.map((vip, index) => (
          <Entry key={index} list="vipAuthors" index={index} name={`VIP ${index + 1}`}>
            <TextInput
              {...TEXT_FIELD}
              maxLength={60}
              aria-label={`VIP ${index + 1}`}
              placeholder="handle"
              {...form.getInputProps(`vipAuthors.${index}.handle`)}
            />
            <TextInput
              {...TEXT_FIELD}
              maxLength={120}
              aria-label="Note"
              placeholder="note"
              {...form.getInputProps(`vipAuthors.${index}.note`)}
              value={vip.note ?? ''}
            />
          </Entry>
        ))}
        <Add
          label="Add a VIP"
          isFull={vipAuthors.length >= 100}
          add={() => form.insertListItem('vipAuthors', { handle: '', note: null, source: null })}
        />
      </Stack>
    </Section>
  );
}

interface EntryProps {
  list: 'muteRules' | 'vipAuthors';
  index: number;
  /** The name for screen readers, such as “mute 1”. */
  name: string;
  children: ReactNode;
}

/** Shows one mute or VIP: its own fields, the source to which it applies, and the button that removes it. */
function Entry({ list, index, name, children }: EntryProps) {
  const form = useDraft();
  const { value, onChange, ...source } = form.getInputProps(`${list}.${index}.source`);
  return (
    <Group gap="xs" align="flex-start" wrap="wrap">
      {children}
      <NativeSelect
        size="xs"
        aria-label="Source"
        data={ANY_SOURCE}
        {...source}
        value={(value as string | null) ?? ''}
        onChange={({ currentTarget }) => onChange(currentTarget.value || null)}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove ${name}`}
        onClick={() => form.removeListItem(list, index)}
      >
        <Trash2 size={15} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

function Add({ label, isFull, add }: { label: string; isFull: boolean; add: () => void }) {
  if (isFull) return <Text size="xs">The list is full.</Text>;
  return (
    <div>
      <Button size="xs" variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={add}>
        {label}
      </Button>
    </div>
  );
}
