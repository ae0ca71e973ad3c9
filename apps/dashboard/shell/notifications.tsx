import '@mantine/notifications/styles.css';
import { Notifications, notifications, type NotificationData } from '@mantine/notifications';
import { useEffect } from 'react';

/** The corner of the page that shows notifications. Shows `latest` when it changes. */
export default function Corner({ latest }: { latest: readonly NotificationData[] }) {
  useEffect(() => {
    for (const one of latest) notifications.show(one);
  }, [latest]);
  return <Notifications position="bottom-right" limit={4} />;
}
