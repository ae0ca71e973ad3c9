import { create } from '@bufbuild/protobuf';
import type { JsonObject } from '@bufbuild/protobuf';
import { CriteriaSchema } from '#contracts';
import { createOutboundHttp } from '#http-out';
import { createSources, createUpstreamHttp, UpstreamError } from '#sources';
import type { FetchContext, SourceItem } from '#sources';
import { simulatedSources } from './environment.js';
import { SimulatorClient } from './testing/simulator-client.js';
import { searchOf } from './searches.js';
import { SIMULATED_SOURCES, SIMULATED } from './sources/index.js';
import type { SourceId } from '#contracts';

/** Sources whose items have no date of publication. */
const UNDATED = new Set(['ai_answers', 'vinted']);
/** Sources whose items have no author, or an author whose name is hidden. */
const UNSIGNED = new Set(['ai_answers', 'producthunt']);

describe('the connectors on the simulator', () => {
  let client: SimulatorClient;
  const http = createOutboundHttp({ allow: ['127.0.0.0/8'], userAgent: 'Earshot/spec' });
  const sources = createSources(simulatedSources('http://127.0.0.1'));

  beforeAll(async () => {
    client = await SimulatorClient.start({ historyPosts: 40 });
  });
  afterAll(async () => {
    await Promise.all([http.close(), client.stop()]);
  });

  function contextFor(source: SourceId): FetchContext {
    const { url } = client.simulator;
    return {
      http: createUpstreamHttp({ source, http, baseUrl: url, clock: client.clock }),
      match: 'word',
      now: client.clock.now(),
      since: new Date(client.clock.now().getTime() - 3_600_000),
      pageCap: 3,
      known: () => false,
      state: {},
      shared: (_, read) => read(),
      session: new Map(),
    };
  }

  async function search(source: SourceId, context: FetchContext): Promise<SourceItem[]> {
    const { market = 'global', filters = {} } = searchOf(source, client.simulator.url);
    const criteria = create(CriteriaSchema, {
      market,
      query: 'zephyr kettle',
      filters: filters as JsonObject,
    });
    return (await sources.get(source)!.connector!.search(criteria, context)).items;
  }

  it.each(SIMULATED_SOURCES)(
    'find a post with its text, its address, and (if the source has them) its author and time (%s)',
    async (source) => {
      const { community } = searchOf(source, client.simulator.url);
      const input = {
        title: 'On the zephyr kettle',
        text: 'The Zephyr Kettle & "me"',
        author: 'ada',
        community,
      };
      const post = client.simulator.world.publish(source, input);
      const items = await search(source, contextFor(source));
      const named = SIMULATED[source].itemIdOf;
      const itemId = named ? named(post) : post.id;
      const item = items.find((one) => (itemId ? one.itemId === itemId : one.text.includes(input.text)));
      expect(item).toBeDefined();
      expect(`${item?.title} ${item?.text}`.toLowerCase()).toContain('zephyr kettle');
      if (!UNDATED.has(source)) expect(item?.publishedAt).toBe(client.clock.now().toISOString());
      if (!UNSIGNED.has(source)) expect(item?.author).toMatch(/^ada\b/);
      expect(item?.url).toMatch(/^https?:\/\//);
    },
  );

  // ai_answers is left out, because the answer of an engine cannot be edited.
  it.each(SIMULATED_SOURCES.filter((source) => source !== 'ai_answers'))(
    'find no new item after an edit, and do not find a removed post (%s)',
    async (source) => {
      const { community } = searchOf(source, client.simulator.url);
      const input = {
        title: 'A zephyr kettle',
        text: 'The zephyr kettle, as written',
        author: 'ada',
        community,
      };
      const post = client.simulator.world.publish(source, input);
      const found = async () => (await search(source, contextFor(source))).map(({ itemId }) => itemId);
      const before = await found();
      client.simulator.world.change(source, post.id, { text: 'The zephyr kettle, as edited' });
      expect(await found()).toEqual(before);
      client.simulator.world.remove(source, post.id);
      const after = await found();
      // `after` can contain another, older post if the page was full. So only missing ids are compared.
      expect(before.filter((itemId) => !after.includes(itemId))).toHaveLength(1);
    },
  );

  it.each(SIMULATED_SOURCES)('report the faults of the upstream (%s)', async (source) => {
    const expectedKinds = { '429': 'rate_limited', '500': 'server_error', '404': 'not_found' } as const;
    for (const kind of ['429', '500', '404'] as const) {
      client.simulator.faults.add({ source, kind, times: 1, retryAfterSeconds: 5 });
      await expect(search(source, contextFor(source))).rejects.toMatchObject({ kind: expectedKinds[kind] });
    }
    for (const kind of ['shape', 'html', 'empty', 'truncated'] as const) {
      client.simulator.faults.add({ source, kind, times: 1 });
      await expect(search(source, contextFor(source))).rejects.toBeInstanceOf(UpstreamError);
    }
  });
});
