import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { described } from './described.js';

interface Props {
  error: unknown;
  /** What failed: “The keyword was not saved”. */
  title?: string;
  retry?: () => void;
  /** Faults that are already shown beside their fields, and are left out here. */
  shownPaths?: readonly string[];
}

/** An error as the API states it, with every fault of the request. A failure of Earshot has the id for its operator. */
export function Problem({ error, title, retry, shownPaths = [] }: Props) {
  const { message, faults, requestId } = described(error);
  const others = faults.filter(({ path }) => !shownPaths.includes(path));
  return (
    <Alert
      color="red"
      icon={<CircleAlert size={18} aria-hidden />}
      title={title}
      role="alert"
      variant="light"
    >
      <Stack gap="xs">
        <Text size="sm" className="foreign">
          {faults.length > 0 && others.length < faults.length ? 'Correct the marked fields.' : message}
        </Text>
        {others.length > 0 && faults.length > 1 && (
          <List size="sm">
            {others.map(({ path, message: fault }) => (
              <List.Item key={path + fault} className="foreign">
                {path ? `${path}: ${fault}` : fault}
              </List.Item>
            ))}
          </List>
        )}
        <Group gap="md">
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
          {requestId && (
            <Text size="xs" c="dimmed">
              Request {requestId}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
