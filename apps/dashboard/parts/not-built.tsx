import { Button } from '@mantine/core';
import { Hammer } from 'lucide-react';
import { Page } from './page.js';
import { Empty } from './states.js';

/** The place of a page that does not exist yet. */
export function NotBuilt({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty
        icon={Hammer}
        title="This page is not built yet"
        action={
          <Button component="a" href="/docs" variant="default">
            Open the reference of the API
          </Button>
        }
      >
        The API has all of it already.
      </Empty>
    </Page>
  );
}
