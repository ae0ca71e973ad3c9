import { Group, Kbd, Modal, Stack, Text, Title } from '@mantine/core';
import { NAVIGATION } from './navigation.js';

type Row = readonly [keys: readonly string[], what: string];

const FEED: readonly Row[] = [
  [['j'], 'next mention'],
  [['k'], 'previous mention'],
  [['Enter'], 'open the mention, and continue in it with the keyboard'],
  [['e'], 'hide the mention, or show it again'],
  [['s'], 'star'],
  [['r'], 'mark “to reply”'],
  [['f'], 'flag'],
  [['/'], 'search'],
  [['Esc'], 'close the mention, and return to the list'],
];

const PAGES: readonly Row[] = [
  [['?'], 'this list'],
  ...NAVIGATION.flatMap(({ entries }) => entries).map(({ key, label }) => [['g', key], label] as const),
];

/** The dialog with all shortcuts. */
export default function ShortcutList({ close }: { close: () => void }) {
  return (
    <Modal opened onClose={close} title="Keyboard shortcuts" size="lg">
      <Group align="flex-start" gap="xl" wrap="wrap">
        <Shortcuts title="Feed" rows={FEED} />
        <Shortcuts title="Pages" rows={PAGES} />
      </Group>
    </Modal>
  );
}

function Shortcuts({ title, rows }: { title: string; rows: readonly Row[] }) {
  return (
    <Stack gap={6} miw={210} flex={1}>
      <Title order={3}>{title}</Title>
      {rows.map(([keys, what]) => (
        <Group key={what} justify="space-between" wrap="nowrap">
          <Text size="sm">{what}</Text>
          <Group gap={4} wrap="nowrap">
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
