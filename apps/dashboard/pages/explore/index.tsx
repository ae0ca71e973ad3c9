import { Tabs } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { Page } from '../../parts/page.js';
import { Analyses } from './analyses.js';
import { AskSources } from './ask-sources.js';

/** Questions that are asked once: to the sources, or about stored mentions. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const tab = params.get('tab') === 'analyses' ? 'analyses' : 'sources';
  return (
    <Page
      title="Explore"
      lead="Ask sources a question once, or analyse stored mentions. Earshot shows the price first."
    >
      <Tabs
        value={tab}
        onChange={(value) => value && setParams({ tab: value }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="sources">Ask sources</Tabs.Tab>
          <Tabs.Tab value="analyses">Analyse mentions</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="sources">
          <AskSources />
        </Tabs.Panel>
        <Tabs.Panel value="analyses" keepMounted>
          <Analyses />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
