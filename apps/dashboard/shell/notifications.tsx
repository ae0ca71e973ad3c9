import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export { notifications } from '@mantine/notifications';

/** The corner in which outcomes are reported. */
export default function NotificationCorner() {
  return <Notifications position="bottom-right" limit={4} />;
}
