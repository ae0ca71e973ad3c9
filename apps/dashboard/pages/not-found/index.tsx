import { Button } from '@mantine/core';
import { Compass } from 'lucide-react';
import { Link } from 'react-router';
import { Page } from '../../parts/page.js';
import { Empty } from '../../parts/states.js';

/** The page for an unknown address. */
export function Component() {
  return (
    <Page title="No such page">
      <Empty
        icon={Compass}
        title="There is nothing at this address"
        action={
          <Button component={Link} to="/feed">
            Open the feed
          </Button>
        }
      />
    </Page>
  );
}
