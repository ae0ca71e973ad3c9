import { Anchor, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { errorText } from './error-text.js';
import { Problem } from './problem.js';
import { Time } from './time.js';

interface EmptyProps {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  /** A button that adds what is missing. */
  action?: ReactNode;
}

/** Explains why there is no data, and what to do. */
export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" py={56} px="md" ta="center" className="card">
      <Icon size={30} strokeWidth={1.5} aria-hidden color="var(--text-dim)" />
      <Title order={2}>{title}</Title>
      {children && (
        <Text c="dimmed" size="sm" maw="30rem" component="div">
          {children}
        </Text>
      )}
      {action && <div style={{ marginTop: '0.5rem' }}>{action}</div>}
    </Stack>
  );
}

/** Shows rows with the height of the loaded rows, so that the page does not move when the data arrives. */
export function LoadingRows({ rows = 6, height = 44 }: { rows?: number; height?: number }) {
  return (
    <Stack gap="xs" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={height} radius="md" />
      ))}
    </Stack>
  );
}

interface LoadedProps<T> {
  query: {
    data: T | undefined;
    error: unknown;
    refetch: () => unknown;
    /** True if the data was read, and a later read has failed. */
    isRefetchError?: boolean;
    /** When the data was read, in ms. */
    dataUpdatedAt?: number;
  };
  /** Shown while the data loads; by default, rows. */
  loading?: ReactNode;
  children: (data: T) => ReactNode;
}

/**
 * Shows the data of a query, its skeleton, or its error with a button to try again. If a later read fails, the data
 * stays, with a line that says how old it is.
 */
export function Loaded<T>({ query, loading = <LoadingRows />, children }: LoadedProps<T>) {
  if (query.data !== undefined)
    return (
      <>
        {query.isRefetchError && query.dataUpdatedAt !== undefined && (
          <Text size="sm" c="red" role="alert" mb="xs">
            {errorText(query.error).message} This is the state of{' '}
            <Time at={new Date(query.dataUpdatedAt).toISOString()} />.{' '}
            <Anchor component="button" type="button" size="sm" onClick={() => void query.refetch()}>
              Try again
            </Anchor>
          </Text>
        )}
        {children(query.data)}
      </>
    );
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  return loading;
}
