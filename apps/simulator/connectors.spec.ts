import { create } from '@bufbuild/protobuf';
import type { JsonObject } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CriteriaSchema } from '#contracts';
import { createOutboundHttp } from '#http-out';
import { createSources, createUpstreamHttp, UpstreamError } from '#sources';
import type { FetchContext, SourceItem } from '#sources';
import { SimulatorClient } from './simulator-client.js';
import { SIMULATED_SOURCES } from './world/world.js';
import type { SimulatedSource } from './world/world.js';

describe('the connectors, set on the simulator', () => {
  let client: SimulatorClient;
  const http = createOutboundHttp({ allow: ['127.0.0.0/8'], userAgent: 'Earshot/spec' });
  const sources = createSources({
    ...{ SOURCE_REDDIT_CLIENT_ID: 'client', SOURCE_REDDIT_CLIENT_SECRET: 'secret' },
    ...{ SOURCE_BLUESKY_CLIENT_ID: 'earshot.bsky.example', SOURCE_BLUESKY_CLIENT_SECRET: 'app-password' },
  });

  beforeAll(async () => {
    client = await SimulatorClient.start({ historyPosts: 40 });
  });
  afterAll(async () => {
    await Promise.all([http.close(), client.stop()]);
  });

  function contextFor(source: SimulatedSource): FetchContext {
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

  async function search(source: SimulatedSource, context: FetchContext): Promise<SourceItem[]> {
    const filters: JsonObject =
      source === 'rss' ? { feed_urls: [`${client.simulator.url}/feeds/mine.atom`] } : {};
    const criteria = create(CriteriaSchema, { market: 'global', query: 'zephyr kettle', filters });
    return (await sources.get(source)!.connector!.search(criteria, context)).items;
  }

  it.each(SIMULATED_SOURCES)('%s: finds a post, with its author, time, text and address', async (source) => {
    const input = { title: 'On tea', text: 'The Zephyr Kettle & "me"', author: 'ada', community: 'mine' };
    const { id } = client.simulator.world.publish(source, input);
    const items = await search(source, contextFor(source));
    expect(items.map(({ text }) => text)).toContain(input.text);
    const item = items.find(({ text }) => text === input.text)!;
    expect(item).toMatchObject({ author: 'ada', publishedAt: client.clock.now().toISOString() });
    expect(item.itemId).toBe({ hackernews: `hn:${id}`, reddit: id, bluesky: id, rss: item.itemId }[source]);
    expect(item.url).toMatch(/^https:\/\//);
  });

  it.each(SIMULATED_SOURCES)('%s: says what is wrong when the upstream is', async (source) => {
    const told = { '429': 'rate_limited', '500': 'server_error', '404': 'not_found' } as const;
    for (const kind of ['429', '500', '404'] as const) {
      client.simulator.faults.add({ source, kind, times: 1, retryAfterSeconds: 5 });
      await expect(search(source, contextFor(source))).rejects.toMatchObject({ kind: told[kind] });
    }
    for (const kind of ['shape', 'html', 'empty', 'truncated'] as const) {
      client.simulator.faults.add({ source, kind, times: 1 });
      await expect(search(source, contextFor(source))).rejects.toBeInstanceOf(UpstreamError);
    }
  });
});
