import { Tabs } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { Page } from '../../parts/page.js';
import { MarketStatistics } from './market-statistics.js';
import { PriceHistory } from './price-history.js';

/** The prices of listings that the account's own searches observed. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const tab = params.get('tab') === 'item' || params.get('item') ? 'item' : 'market';
  return (
    <Page
      title="Vinted"
      lead="Prices that your own searches observed. Days with too few listings are marked."
    >
      <Tabs
        value={tab}
        onChange={(value) => value && setParams({ tab: value }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="market">Market</Tabs.Tab>
          <Tabs.Tab value="item">One item</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="market">
          <MarketStatistics />
        </Tabs.Panel>
        <Tabs.Panel value="item">
          <PriceHistory />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
