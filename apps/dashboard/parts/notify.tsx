import { Alert } from '@mantine/core';
import type { NotificationData } from '@mantine/notifications';
import { lazy, Suspense, useState, useSyncExternalStore, type ReactNode } from 'react';
import { EarshotError } from '../api/client.js';
import { errorText } from './error-text.js';

/**
 * The code that shows notifications is loaded when the first notification comes. Without a network it cannot be loaded,
 * and without `PlainCorner` the failure would remove the whole page.
 */
const Corner = lazy(() => import('../shell/notifications.js').catch(() => ({ default: PlainCorner })));

let reported: readonly NotificationData[] = [];
const listeners = new Set<() => void>();

function report(notification: NotificationData): void {
  reported = [notification];
  for (const listener of listeners) listener();
}

/** Shows the notifications. This component is rendered only at the root. */
export function NotificationCorner() {
  const notifications = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => reported,
  );
  return <Suspense>{notifications.length > 0 && <Corner latest={notifications} />}</Suspense>;
}

/** Shows only the latest notification, until the member closes it. */
function PlainCorner({ latest: [latest] }: { latest: readonly NotificationData[] }) {
  const [closed, setClosed] = useState<NotificationData>();
  if (!latest || latest === closed) return null;
  const { title, message, color } = latest;
  return (
    <Alert
      {...{ title, color }}
      pos="fixed"
      bottom={16}
      right={16}
      maw="calc(100vw - 32px)"
      withCloseButton
      closeButtonLabel="Close"
      onClose={() => setClosed(latest)}
      style={{ zIndex: 400 }}
    >
      {message}
    </Alert>
  );
}

/** Reports an outcome in the corner of the page: “The keyword was paused”. */
export function notify(message: ReactNode): void {
  report({ message, withBorder: true });
}

/** Reports a failure that no other part of the page shows. */
export function notifyFailure(title: string, error: unknown): void {
  // For a 401 nothing is shown, because the shell asks for the password.
  if (error instanceof EarshotError && error.status === 401) return;
  report({ title, message: errorText(error).message, color: 'red', withBorder: true, autoClose: 10_000 });
}
