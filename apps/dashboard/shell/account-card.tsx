import { Group, Text, UnstyledButton, type UnstyledButtonProps } from '@mantine/core';
import { ChevronsUpDown } from 'lucide-react';
import type { ComponentPropsWithRef } from 'react';
import { useSession } from '../api/session.js';
import classes from './shell.module.css';

/** The button that shows the signed-in member. */
export function AccountCard(props: UnstyledButtonProps & ComponentPropsWithRef<'button'>) {
  const { account, member } = useSession();
  return (
    <UnstyledButton title="Account and theme" aria-haspopup="menu" {...props} className={classes.account}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={600} truncate>
            {account.name || member.email}
          </Text>
          {account.name && (
            <Text size="xs" c="dimmed" truncate>
              {member.email}
            </Text>
          )}
        </div>
        <ChevronsUpDown size={15} aria-hidden style={{ flex: 'none' }} />
      </Group>
    </UnstyledButton>
  );
}
