import { insertRows } from '#clickhouse';
import { connectBus, type Bus } from '#messaging';
import type { RunningService } from '#platform';
import { createLogger } from '#telemetry';
import type { Json } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';
import { startServicesWithoutSources } from './services-without-sources.js';

/** The interface, the services behind it, and an account with a keyword to which mentions are added. */
export class MentionsScene {
  service!: InterfaceUnderTest;
  ada!: Tenant;
  bus!: Bus;
  keyword!: Json;
  private others: RunningService[] = [];

  async start(): Promise<void> {
    this.service = await startInterface();
    this.others = await startServicesWithoutSources(this.service.stores);
    this.ada = await this.service.tenant();
    this.bus = await connectBus(this.service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    this.keyword = (await this.ada.api.post('/v1/keywords', keywordBody())).body;
  }

  async stop(): Promise<void> {
    for (const other of this.others) await other.stop();
    await this.bus?.close();
    await this.service?.stop();
  }

  /** Adds a mention of the keyword, as the sink writes it. @returns its id */
  readonly mention = async (more: object = {}): Promise<string> => {
    const { id, watches } = this.keyword;
    const row = mentionRow(this.ada.accountId, { keyword_id: id, watch_id: watches[0].id, ...more });
    await insertRows(this.service.clickhouse, 'mentions', [row]);
    return row.event_id;
  };

  readonly patch = (id: string, body: object) => this.ada.api.patch(`/v1/mentions/${id}`, body);

  /** @returns the ids of the mentions that a query lists */
  readonly listed = async (query: string): Promise<string[]> =>
    (await this.ada.api.get(`/v1/mentions?${query}`)).body.data.map(({ id }: { id: string }) => id);
}
