import { Hammer } from 'lucide-react';
import { Page } from './page.js';
import { Empty } from './states.js';

/** The place of a page that does not exist yet. */
export function NotBuilt({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty icon={Hammer} title="This page is not built yet">
        The API has all of it already: see <a href="/docs">the reference</a>.
      </Empty>
    </Page>
  );
}
