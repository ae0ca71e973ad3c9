import { Center, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { Logo } from '../shell/logo.js';

/** The frame of the pages before the sign-in. */
export function SignPage({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Earshot`;
  }, [title]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w="100%" maw={400} gap="lg">
        <Center>
          <Logo size={32} />
        </Center>
        <Paper p={{ base: 'lg', xs: 'xl' }} bg="var(--surface)">
          <Title order={1} fz="1.25rem" mb={lead ? 4 : 'md'}>
            {title}
          </Title>
          {lead && (
            <Text size="sm" c="dimmed" mb="md" component="div">
              {lead}
            </Text>
          )}
          {children}
        </Paper>
      </Stack>
    </Center>
  );
}
