import { Button, Center, Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table in a frame that scrolls sideways on a narrow window, so that the page never does. */
export function DataTable({
  label,
  head,
  children,
  minWidth = 640,
  framed = true,
}: {
  /** What the table shows, for screen readers. */
  label: string;
  head: readonly ReactNode[];
  children: ReactNode;
  minWidth?: number;
  /** False inside a section, which has a frame. */
  framed?: boolean;
}) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      className={framed ? 'card' : undefined}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
    >
      <Table highlightOnHover aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {head.map((cell, index) => (
              <Table.Th key={index} scope="col" fz="xs" c="dimmed" fw={600}>
                {cell}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The button below a list that has more pages. */
export function More({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  if (!query.hasNextPage) return null;
  return (
    <Center mt="sm">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show more
      </Button>
    </Center>
  );
}
