import { Button, Center, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useRouteError } from 'react-router';

/** Shown instead of a page that failed. */
export function PageError() {
  const error = useRouteError();
  const message = error instanceof Error ? error.message : String(error);
  return (
    <Center mih="60vh" p="md">
      <Stack maw={520} gap="sm">
        <Title order={1}>This page failed</Title>
        <Text>
          The page has a defect, or Earshot was updated while the page was open. The failure changed no data.
          Reload the page; if it fails again, report the text below.
        </Text>
        <Code block>{message}</Code>
        <Group>
          <Button onClick={() => location.reload()}>Reload</Button>
          <Button variant="default" component="a" href="/feed">
            Open the feed
          </Button>
        </Group>
      </Stack>
    </Center>
  );
}
