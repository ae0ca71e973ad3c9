import { Tabs } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { Page } from '../../parts/page.js';
import { Attempts } from './attempts.js';
import { Endpoints } from './endpoints.js';
import { Replays } from './replays.js';

const TABS = ['attempts', 'endpoints', 'replays'] as const;

/** The deliveries, with their targets and the responses of the receivers. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const tab = TABS.find((one) => one === params.get('tab')) ?? 'attempts';
  return (
    <Page
      title="Deliveries"
      lead="Each attempt to deliver to a webhook or a channel, with the response. Earshot retries a failed delivery up to seven times, in 41 hours."
    >
      <Tabs
        value={tab}
        onChange={(value) => value && setParams({ tab: value }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="attempts">Deliveries</Tabs.Tab>
          <Tabs.Tab value="endpoints">Endpoints</Tabs.Tab>
          <Tabs.Tab value="replays">Replays</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="attempts">
          <Attempts />
        </Tabs.Panel>
        <Tabs.Panel value="endpoints">
          <Endpoints />
        </Tabs.Panel>
        <Tabs.Panel value="replays">
          <Replays />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
