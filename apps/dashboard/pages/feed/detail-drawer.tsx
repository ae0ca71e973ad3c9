import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows a mention in front of the list, for windows without room beside the list. */
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
      attributes={{ content: { 'aria-label': 'Mention', 'data-shortcuts': true } }}
    >
      {/* Keeps the focus when another mention replaces this one. */}
      <div tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
        {children}
      </div>
    </Drawer>
  );
}
