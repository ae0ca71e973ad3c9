import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** One number with its name. */
export function Figure({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Paper p="md" bg="var(--surface)">
      <Text size="xs" c="dimmed" fw={550}>
        {label}
      </Text>
      <Text fz="1.4rem" fw={650} lh={1.35} className="tabular" component="div">
        {value}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed" component="div">
          {hint}
        </Text>
      )}
    </Paper>
  );
}
