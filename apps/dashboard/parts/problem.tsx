import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { errorText, type ErrorText } from './error-text.js';
import { words } from './format.js';

interface Props {
  error: unknown;
  /** The title that names the failure: “The keyword was not saved”. */
  title?: string;
  retry?: () => void;
  /** The paths of faults that are already shown beside their fields, and therefore are not listed again. */
  shownPaths?: readonly string[];
}

/**
 * Shows an error of the API, with each fault of the request that is not in `shownPaths`. For a failure of Earshot, also
 * shows the id of the request, which the operator needs.
 */
export function Problem({ error, title, retry, shownPaths = [] }: Props) {
  const { message, faults, requestId } = errorText(error);
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
          {summaryOf(message, faults, others)}
        </Text>
        {others.length > 0 && faults.length > 1 && (
          <List size="sm">
            {others.map(({ path, message: fault }) => (
              <List.Item key={path + fault} className="foreign">
                {inWords({ path, message: fault })}
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

type Fault = ErrorText['faults'][number];

/** Returns the text above the list of faults. A single fault has no list: the text describes the fault. */
function summaryOf(message: string, faults: readonly Fault[], others: readonly Fault[]): string {
  const [only] = faults;
  if (!only) return message;
  if (others.length < faults.length) return 'Correct the marked fields.';
  return faults.length > 1
    ? 'The request has these faults:'
    : message === describedAt(only)
      ? inWords(only)
      : message;
}

/**
 * Returns the message with which the API reports an invalid request that has only this fault. Other refusals, for example
 * for missing credits, have a message without the path.
 */
const describedAt = ({ path, message }: Fault) => (path ? `${path}: ${message}` : message);

/** Returns the text of a fault with a readable path. `rules[0].when.all[1]` becomes “Rules 1, when, all 2”. */
function inWords({ path, message }: Fault): string {
  if (path === '') return message;
  const readablePath = path
    .replace(/\[(\d+)\]/g, (_, index: string) => ` ${Number(index) + 1}`)
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .replaceAll('.', ', ');
  return `${words(readablePath)}: ${message}`;
}
