import { request } from 'undici';
import { startProgram, until, type Program } from '#testing';
import { simulatedLlm } from '../../apps/simulator/index.js';
import { setStage, watchKeyword, openCustomer, type Stage } from '../scenario.js';
import { documentedMetrics, withoutHistogramSuffix } from './documented-metrics.js';

let stage: Stage;
let program: Program;

beforeAll(async () => {
  stage = await setStage();
  program = await startProgram('earshot', { ...stage.env, ...simulatedLlm(stage.simulator.url) });
}, 90_000);
afterAll(async () => {
  await program?.stop();
  await stage?.close();
});

/** Returns the text of `/metrics`, and its metrics with their labels (without `le`) in alphabetical order. */
async function publishedMetrics(): Promise<{ text: string; published: Map<string, string[]> }> {
  const text = await (await request(`${program.url}/metrics`)).body.text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const published = samples.map((line): [string, string[]] => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [line];
    const keys = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, key = '']) => key);
    return [withoutHistogramSuffix(name), keys.filter((key) => key !== 'le').sort()];
  });
  return { text, published: new Map(published) };
}

describe('/metrics of a running installation', () => {
  it('has exactly the metrics and labels of docs/operations.md', async () => {
    const { api } = await openCustomer(stage, program.url);
    await watchKeyword(api, {
      name: 'Kettle',
      refresh_interval_seconds: 1,
      global_criteria: { market: 'global', query: 'kettle' },
      sources: [{ source: 'hackernews', enabled: true }],
      webhook_url: `${stage.simulator.url}/hooks/metrics`,
      ai_step: { instruction: 'Which product?', schema: { product: { type: 'string' } } },
    });
    stage.simulator.world.publish('hackernews', { title: 'A kettle', text: 'My kettle sings' });
    const tweet = stage.simulator.world.publish('x', { text: 'A kettle' });
    await api.get(`/v1/x/tweets?ids=${tweet.id}`);
    const documented = documentedMetrics();
    await until(
      'every documented metric has a value',
      async () => {
        const { published } = await publishedMetrics();
        const missing = [...documented.keys()].filter((name) => !published.has(name));
        if (missing.length > 0) throw new Error(`no value yet: ${missing.join(', ')}`);
        return true;
      },
      30_000,
    );
    const { text, published } = await publishedMetrics();
    expect(Object.fromEntries(published)).toEqual(Object.fromEntries(documented));
    const typeOf = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1];
    for (const name of documented.keys())
      expect([name, typeOf(name)]).toEqual([
        name,
        name.endsWith('_total') ? 'counter' : name.endsWith('_duration_seconds') ? 'histogram' : 'gauge',
      ]);
  }, 120_000);
});
