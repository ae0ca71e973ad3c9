import { Anchor, Box, Group, Stack, Text, Title } from '@mantine/core';
import { ChevronLeft } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { Link } from 'react-router';
import { isolated } from './format.js';

interface Props {
  title: string;
  /** A sentence below the title. */
  lead?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  /** The parent page. */
  back?: { to: string; label: string };
  /** Maximum width; `none` for pages that use the whole window. */
  width?: string;
  children: ReactNode;
}

/** The frame of a page: document title, heading, actions. */
export function Page({ title, lead, actions, back, width = 'var(--page-width)', children }: Props) {
  useEffect(() => {
    document.title = `${isolated(title)} · Earshot`;
  }, [title]);
  return (
    <Box px={{ base: 'md', sm: 'xl' }} py={{ base: 'md', sm: 'xl' }} maw={width} mx="auto">
      <Stack gap="lg">
        <div>
          {back && (
            <Anchor
              component={Link}
              to={back.to}
              size="sm"
              mb={4}
              display="inline-flex"
              style={{ alignItems: 'center', gap: 2 }}
            >
              <ChevronLeft size={15} aria-hidden /> {back.label}
            </Anchor>
          )}
          <Group justify="space-between" align="center" gap="sm">
            <Title order={1} className="foreign">
              {title}
            </Title>
            {actions && <Group gap="xs">{actions}</Group>}
          </Group>
          {lead && (
            <Text c="dimmed" size="sm" mt={4} maw="44rem">
              {lead}
            </Text>
          )}
        </div>
        {children}
      </Stack>
    </Box>
  );
}
