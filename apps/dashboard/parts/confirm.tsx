import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Problem } from './problem.js';

interface Props {
  title: ReactNode;
  /** The effect of the action, and whether it can be undone. */
  children: ReactNode;
  /** The verb: “Retire”. */
  action: string;
  isPending: boolean;
  error: unknown;
  /** True if the action is possible now. */
  isReady?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks for confirmation of an action, for example of an action that cannot be undone. */
export function Confirm({
  title,
  children,
  action,
  isPending,
  error,
  isReady = true,
  onConfirm,
  onClose,
}: Props) {
  return (
    <Modal opened onClose={onClose} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {error !== null && error !== undefined && <Problem error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red" loading={isPending} disabled={!isReady} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
