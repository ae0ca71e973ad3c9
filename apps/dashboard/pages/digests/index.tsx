import { Tabs } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { Page } from '../../parts/page.js';
import { Plans } from './plans.js';
import { Reports } from './reports.js';
import { SentDigests } from './sent-digests.js';

const TABS = ['plans', 'sent', 'reports'] as const;

/** The channels with their digests, the sent digests, and the weekly reports. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const tab = TABS.find((one) => one === params.get('tab')) ?? 'plans';
  return (
    <Page
      title="Digests and reports"
      lead="Mentions of an hour, a day or a week in one message. An empty digest is not sent."
    >
      <Tabs
        value={tab}
        onChange={(value) => value && setParams({ tab: value }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="plans">Who gets what</Tabs.Tab>
          <Tabs.Tab value="sent">Last digests</Tabs.Tab>
          <Tabs.Tab value="reports">Weekly reports</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="plans">
          <Plans />
        </Tabs.Panel>
        <Tabs.Panel value="sent">
          <SentDigests />
        </Tabs.Panel>
        <Tabs.Panel value="reports">
          <Reports />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
