import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { selectRows } from '#clickhouse';
import { EventSchema, LookupSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { startService, type RunningService } from '#platform';
import { createLogger } from '#telemetry';
import { programEnv, until, type Json } from '#testing';
import { analysisService } from '../../apps/analysis/analysis.module.js';
import { readAnalysisConfig } from '../../apps/analysis/config.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

/** The posts of the scene, by topic. */
export const POSTS = {
  battery: 'My handset is empty long before lunch, it hardly lasts the morning.',
  charger: 'Where can I buy a new charging cable for this phone?',
  bread: 'Their bakery sells wonderful croissants and sourdough.',
  rain: 'It has rained for three days and the garden is flooded.',
};

/** @returns the authors of the mentions in an answer, in their order */
export const authors = (answer: { body: Json }) =>
  (answer.body.data as { author: string }[]).map(({ author }) => author);

/** The interface and analysis, with posts that can be searched by meaning. */
export class SemanticScene {
  service!: InterfaceUnderTest;
  bus!: Bus;
  private analysis: RunningService | undefined;

  async start(): Promise<void> {
    this.service = await startInterface();
    await this.startAnalysis();
    this.bus = await connectBus(this.service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  }

  async stop(): Promise<void> {
    await this.stopAnalysis();
    await this.bus?.close();
    await this.service?.stop();
  }

  async startAnalysis(): Promise<void> {
    const config = readAnalysisConfig(programEnv(this.service.stores, { LOG_LEVEL: 'silent' }));
    this.analysis = await startService(analysisService(config), config, false);
  }

  async stopAnalysis(): Promise<void> {
    await this.analysis?.stop();
    this.analysis = undefined;
  }

  /** Creates a keyword and its posts, and waits until the posts can be searched. */
  readonly keywordWith = async (
    tenant: Tenant,
    posts: Record<string, string>,
    more: Record<string, unknown> = {},
  ) => {
    const { body } = await tenant.api.post(
      '/v1/keywords',
      keywordBody({ name: newId(), refresh_interval_seconds: 3600, ...more }),
    );
    const [watch] = body.watches as { id: string }[];
    const ids = await this.publish(tenant, body.id, watch!.id, posts);
    return { id: body.id as string, watchId: watch!.id, ids };
  };

  /** Appends an event for each post, and waits until all can be searched. @returns their ids */
  readonly publish = async (
    tenant: Tenant,
    keywordId: string,
    watchId: string,
    posts: Record<string, string>,
  ) => {
    const ids: Record<string, string> = {};
    for (const [name, text] of Object.entries(posts)) {
      const event = create(EventSchema, {
        eventId: (ids[name] = newId()),
        accountId: tenant.accountId,
        watchId,
        keywordId,
        checkId: newId(),
        source: 'hackernews',
        type: 'hn_item.created',
        occurredAt: new Date(Date.now() - 60_000).toISOString(),
        envelope: new TextEncoder().encode('{}'),
        ...(name.startsWith('dropped') ? { dropped: { reason: 'muted', rule: 'x' } } : {}),
        matched: { item: { itemId: newId(), kind: 'story', text, author: name, bodyJson: '{}' } },
      });
      const subject = subjectOf('EVENTS', tenant.accountId, watchId);
      await new EventStore(this.bus).publish(subject, toBinary(EventSchema, event), event.eventId);
    }
    await until('every post can be searched', async () => {
      const counts = await Promise.all(
        ['mentions', 'mention_vectors'].map((table) => this.rowsIn(table, Object.values(ids))),
      );
      return counts.every((count) => count === Object.keys(posts).length);
    });
    return ids;
  };

  /** @returns how many of the events are in a table of ClickHouse */
  readonly rowsIn = async (table: string, ids: readonly string[]): Promise<number> => {
    const query = `SELECT uniqExact(event_id) AS n FROM ${table} WHERE event_id IN {ids: Array(UUID)}`;
    const rows = await selectRows<{ n: string }>(this.service.clickhouse, query, { ids });
    return Number(rows[0]?.n);
  };

  /** Asks for mentions by meaning. */
  readonly ask = (tenant: Tenant, q: string, more = '') =>
    tenant.api.get(`/v1/mentions?mode=semantic&q=${encodeURIComponent(q)}${more}`);

  /** @returns the facts of the account on LOOKUPS */
  readonly facts = async ({ accountId }: Tenant) =>
    (await new EventStore(this.bus).read('LOOKUPS', subjectOf('LOOKUPS', accountId))).map(({ data }) =>
      fromBinary(LookupSchema, data),
    );
}
