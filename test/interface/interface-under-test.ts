import { NO_ID, openClickHouse, type ClickHouseClient, type MentionRow } from '#clickhouse';
import { freePort } from '#embedded';
import { derivedId, newId } from '#kernel';
import { startService, type RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { ApiClient, isolateStores, openAccount, programEnv, type IsolatedStores } from '#testing';
import { billingService } from '../../apps/billing/billing.module.js';
import { readBillingConfig } from '../../apps/billing/config.js';
import { readGatewayConfig } from '../../apps/gateway/config.js';
import { gatewayService } from '../../apps/gateway/gateway.module.js';
import { checkDescribed } from './described.js';
import { readKeywordsConfig } from '../../apps/keywords/config.js';
import { keywordsService } from '../../apps/keywords/keywords.module.js';

/** An account of the interface under test, with its own client. */
export interface Tenant {
  accountId: string;
  api: ApiClient;
}

/** Gateway, keywords and billing in this process, with separate stores. */
export interface InterfaceUnderTest {
  url: string;
  stores: IsolatedStores;
  clickhouse: ClickHouseClient;
  database: Database;
  tenant(plan?: string): Promise<Tenant>;
  /** Starts another gateway, with other settings. @returns its address */
  anotherGateway(more?: NodeJS.ProcessEnv): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the services of the interface. No source is polled: the spec writes the mentions. */
export async function startInterface(more: NodeJS.ProcessEnv = {}): Promise<InterfaceUnderTest> {
  const stores = await isolateStores();
  const port = await freePort();
  // No test asks this language model, but agent steps would be refused without its setting.
  const model = { LLM_URL: 'http://127.0.0.1:9/v1' };
  const env = programEnv(stores, { PORT: String(port), LOG_LEVEL: 'silent', ...model, ...more });
  const services: RunningService[] = [];
  const billing = readBillingConfig(env);
  const keywords = readKeywordsConfig(env);
  const gateway = readGatewayConfig(env);
  services.push(await startService(billingService(billing), billing, false));
  services.push(await startService(keywordsService(keywords), keywords, false));
  services.push(await startService(gatewayService(gateway), gateway));
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  const database = await openDatabase(stores.databaseUrl, 'spec', 2);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    stores,
    clickhouse,
    database,
    async tenant(plan) {
      const { accountId, apiKey } = await openAccount(stores.natsUrl, plan);
      return { accountId, api: new ApiClient(url, apiKey, checkDescribed) };
    },
    async anotherGateway(changes = {}) {
      const config = readGatewayConfig({ ...env, ...changes, PORT: String(await freePort()) });
      services.push(await startService(gatewayService(config), config));
      return `http://127.0.0.1:${config.PORT}`;
    },
    async stop() {
      for (const service of services.reverse()) await service.stop();
      await clickhouse.close();
      await database.destroy();
      await stores.drop();
    },
  };
}

/** Returns a body that creates a keyword on a source that needs no settings. */
export function keywordBody(more: Record<string, unknown> = {}) {
  return {
    name: 'Acme',
    refresh_interval_seconds: 600,
    global_criteria: { market: 'global', query: 'acme' },
    sources: [{ source: 'hackernews', enabled: true }],
    ...more,
  };
}

/** Returns a mention as the sink writes it. */
export function mentionRow(accountId: string, more: Partial<MentionRow> = {}): MentionRow {
  const watchId = newId();
  const itemId = `hn:${newId()}`;
  return {
    account_id: accountId,
    occurred_at: new Date().toISOString(),
    event_id: derivedId('spec', itemId),
    keyword_id: NO_ID,
    watch_id: watchId,
    search_id: NO_ID,
    check_id: newId(),
    source: 'hackernews',
    type: 'hn_item.created',
    kind: 'story',
    item_id: itemId,
    url: 'https://example.org/1',
    title: 'Acme is here',
    text: 'All about acme.',
    author: 'Ada',
    author_name: null,
    author_url: null,
    vip: false,
    community: null,
    lang: 'en',
    published_at: null,
    backfilled: false,
    matches: '[{"term":"acme","field":"text","start":10,"end":14}]',
    matched_terms: ['acme'],
    match_mode: 'word',
    likes: null,
    replies: null,
    shares: null,
    views: null,
    score: null,
    media: '[]',
    labels: [],
    sentiment: '',
    sentiment_score: null,
    intent: '',
    relevance: null,
    relevance_reason: '',
    reading_reason: '',
    reader: '',
    reader_model: '',
    reader_version: '',
    bucket: '',
    bucket_label: '',
    co_brands: [],
    ai: '',
    story_id: '',
    explore_id: NO_ID,
    readings: '[]',
    rules: [],
    rule_outcomes: '',
    author_followers: null,
    title_of_parent: false,
    never_counted: false,
    dropped_reason: '',
    dropped_rule: '',
    verdicts: '[]',
    listing: '',
    truncated: false,
    version: 0,
    corrected_sentiment: '',
    corrected_intent: '',
    corrected_relevance: null,
    ...more,
  };
}
