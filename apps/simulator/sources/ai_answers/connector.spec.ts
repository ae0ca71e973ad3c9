import { create } from '@bufbuild/protobuf';
import { CriteriaSchema } from '#contracts';
import { createOutboundHttp } from '#http-out';
import { createSources, createUpstreamHttp } from '#sources';
import { simulatedSources } from '../../environment.js';
import { SimulatorClient } from '../../testing/simulator-client.js';

const ENGINES = ['openai', 'anthropic', 'perplexity', 'gemini'];

describe('the connector of ai_answers on the simulator', () => {
  let client: SimulatorClient;
  const http = createOutboundHttp({ allow: ['127.0.0.0/8'], userAgent: 'Earshot/spec' });
  const { connector } = createSources(simulatedSources('http://127.0.0.1')).get('ai_answers')!;

  beforeAll(async () => {
    client = await SimulatorClient.start();
  });
  afterAll(async () => {
    await Promise.all([http.close(), client.stop()]);
  });

  async function bodies() {
    const criteria = create(CriteriaSchema, {
      filters: { prompt: 'Which kettle is the best?', brands: ['Zephyr Kettle', 'Byron'] },
    });
    const { clock, simulator } = client;
    const { items, warnings } = await connector!.search(criteria, {
      http: createUpstreamHttp({ source: 'ai_answers', http, baseUrl: simulator.url, clock }),
      match: 'word',
      now: clock.now(),
      pageCap: 3,
      known: () => false,
      state: {},
      shared: (_, read) => read(),
      session: new Map(),
    });
    expect(warnings).toEqual([]);
    return items.map(({ bodyJson }) => JSON.parse(bodyJson) as Record<string, unknown>);
  }

  it('reads the text and citations of eight answers of each engine, including an answer with a pause', async () => {
    const text = 'It is the Zephyr Kettle: see https://kettles.example/best.';
    for (let n = 0; n < 8; n++) {
      for (const community of ENGINES) {
        const link = 'https://byron.example/shop?a=1';
        client.simulator.world.publish('ai_answers', { text, title: 'A shop', community, link });
      }
      // Anthropic pauses once for a post whose number is divisible by 8. All engines share the numbers. With this extra
      // post, each round uses five numbers, so in eight rounds each engine gets one number that is divisible by 8.
      client.simulator.world.publish('ai_answers', { text: '', community: 'nobody' });
      for (const body of await bodies()) {
        expect(body.text).toBe(text);
        expect(body.brands).toEqual([
          { brand: 'Zephyr Kettle', mentioned: true, cited: false, position: 10 },
          { brand: 'Byron', mentioned: false, cited: true, position: null },
        ]);
      }
    }
    const paused = client.simulator.requests.report('ai_answers').requests.length - 8 * ENGINES.length;
    expect(paused).toBe(1);
    const [openai, anthropic, perplexity, gemini] = await bodies();
    const cited = [
      { url: 'https://byron.example/shop?a=1', title: 'A shop' },
      { url: 'https://kettles.example/best', title: 'kettles.example' },
    ];
    for (const body of [openai, anthropic, perplexity]) expect(body?.citations).toEqual(cited);
    const titles = (gemini!.citations as { title: string }[]).map(({ title }) => title);
    expect(titles).toEqual(['byron.example', 'kettles.example']);
  });
});
