import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows a mention above the list, where there is no room beside it. */
export default function DetailDrawer({
  isOpen,
  close,
  children,
}: {
  isOpen: boolean;
  close: () => void;
  children: ReactNode;
}) {
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      position="right"
      size="min(100%, 40rem)"
      padding={0}
      withCloseButton={false}
      aria-label="Mention"
    >
      {children}
    </Drawer>
  );
}
