import { EarshotError } from '../api/client.js';

/** Reports an outcome in the corner of the page: “The keyword was paused”. */
export async function notify(message: string): Promise<void> {
  const { notifications } = await import('../shell/notifications.js');
  notifications.show({ message, withBorder: true });
}

/** Reports a failure for which the page has no place of its own. */
export async function notifyFailure(title: string, error: unknown): Promise<void> {
  // The shell asks for the password then.
  if (error instanceof EarshotError && error.status === 401) return;
  const { notifications } = await import('../shell/notifications.js');
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({ title, message, color: 'red', withBorder: true, autoClose: 10_000 });
}
