import { Anchor } from '@mantine/core';
import { Hammer } from 'lucide-react';
import { Page } from './page.js';
import { Empty } from './states.js';

/** The place of a page that does not exist yet. */
export function NotBuilt({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty icon={Hammer} title="This page is not built yet">
        The API has all of it already: see <Anchor href="/docs">the reference</Anchor>.
      </Empty>
    </Page>
  );
}
