import { Group, Paper, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** One figure of a page, with what it means. */
export function Stat({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <Paper p="md" bg="var(--surface)">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz="1.5rem" fw={650} className="tabular" lh={1.3} component="div">
        {value}
      </Text>
      {note && (
        <Text size="xs" c="dimmed" component="div" mt={2}>
          {note}
        </Text>
      )}
    </Paper>
  );
}

/** Figures beside each other; below each other on a narrow window. */
export function Stats({ children, cols = 4 }: { children: ReactNode; cols?: number }) {
  return <SimpleGrid cols={{ base: 1, xs: 2, md: cols }}>{children}</SimpleGrid>;
}

/** A part of a page with its own heading and actions. */
export function Section({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb="xs" gap="sm">
        <Text component="h2" fw={650} fz="1.05rem" m={0}>
          {title}
        </Text>
        {actions}
      </Group>
      {lead && (
        <Text size="sm" c="dimmed" mb="sm" maw="48rem" component="div">
          {lead}
        </Text>
      )}
      {children}
    </section>
  );
}
