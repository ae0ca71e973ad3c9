import { Button, Center, Table } from '@mantine/core';
import type { CSSProperties, ReactNode } from 'react';
import classes from './table.module.css';

/**
 * Shows a table in a frame. If the table is too wide, the frame scrolls sideways, not the page. On a telephone each row
 * becomes a list of its cells, and each cell is beside the name of its column.
 */
export function DataTable({
  label,
  head,
  children,
  minWidth = 640,
  framed = true,
}: {
  /** A description of the table for screen readers. */
  label: string;
  /** Names of the columns; empty for a column of buttons. At most eight. */
  head: readonly string[];
  children: ReactNode;
  minWidth?: number;
  /** Set to false inside a section, because a section has a frame. */
  framed?: boolean;
}) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      className={framed ? `card ${classes.frame}` : classes.frame}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
    >
      <Table highlightOnHover aria-label={label} className={classes.table} style={namesOf(head)}>
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

/** Returns the names of the columns as CSS variables, with which the style sheet shows the names beside the cells. */
const namesOf = (head: readonly string[]) =>
  Object.fromEntries(
    head.map((name, index) => [`--column-${index + 1}`, JSON.stringify(name)]),
  ) as CSSProperties;

/** Shows the button below a list that has more pages. */
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
