import { create } from '@bufbuild/protobuf';
import { RunAnalysisSchema } from '#contracts';
import { createLlm, type Llm } from '#llm';
import { createLogger } from '#telemetry';
import type { AnalysedMention, AnalysedMentions } from '../apps/analysis/analyses/analysed-mentions.js';
import { AnalysisWork } from '../apps/analysis/analyses/analysis-work.js';
import { simulatedLlm, startSimulator, type Fault, type Simulator } from '../apps/simulator/index.js';

let simulator: Simulator;
let llm: Llm;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());
beforeEach(() => {
  const { LLM_URL: url = '', LLM_MODEL: model = '', LLM_TOKEN: token = '' } = simulatedLlm(simulator.url);
  const budget = { concurrency: 4, requestsPerMinute: 6000, timeoutMs: 300 };
  llm = createLlm({ url, model, token, userAgent: 'spec', ...budget }, createLogger('spec', 'silent'));
});
afterEach(async () => {
  simulator.faults.clear();
  await llm.close();
});

/** Every mention has the vector of the first class, so the local reader puts every mention into this class. */
const mentions = {
  withVectors: async (all: readonly AnalysedMention[]) =>
    all.map(({ id, own }) => ({ id, text: own, vector: Float32Array.of(1, 0) })),
  vectors: async (texts: readonly string[]) =>
    texts.map((_, n) => (n === 0 ? Float32Array.of(1, 0) : Float32Array.of(0, 1))),
} satisfies Pick<AnalysedMentions, 'withVectors' | 'vectors'> as unknown as AnalysedMentions;

async function run(
  operation: 'agent' | 'classify' | 'group' | 'summarise',
  ...faults: [Fault['kind'], number][]
) {
  for (const [kind, times] of faults)
    simulator.faults.add({ source: 'llm', kind, times, delayMs: 50, retryAfterSeconds: 0 });
  const text = 'product=Acme 3; class=shipping; confidence=0.9; topic=late parcels; sentence=Acme is late';
  const shown = { source: 'rss', kind: 'article', title: '', author: '', community: '' };
  const command = create(RunAnalysisSchema, {
    operation,
    instruction: 'Which?',
    schemaJson: '{"product":{"type":"string"}}',
    classes: ['billing', 'shipping'],
  });
  // A group needs two mentions.
  const ids = operation === 'group' ? ['a', 'b'] : ['a'];
  return new AnalysisWork(mentions, llm).run(
    command,
    ids.map((id) => ({ id, text, own: text, ...shown })),
  );
}

const ANSWERED = {
  outputs: [{ mentionId: 'a', status: 'completed', output: { product: 'Acme 3' } }],
  errors: [],
};
const BY_MODEL = { labels: [{ mentionId: 'a', class: 'shipping', confidence: 0.9 }], errors: [] };

describe('a fault of the language model in an analysis', () => {
  it.each(['429', '500', '503', 'truncated', 'html', 'empty', 'shape', 'hang', 'slow'] as const)(
    'causes a second request, which gives a result, if it is `%s`',
    async (kind) => {
      expect(await run('agent', [kind, 1])).toEqual(ANSWERED);
      expect(await run('classify', [kind, 1])).toEqual(BY_MODEL);
      expect((await run('group', [kind, 1])).groups).toMatchObject([{ label: 'late parcels' }]);
      expect((await run('summarise', [kind, 1])).summary?.text).toBe('Acme is late');
    },
  );

  it.each(['invalid_json', 'schema_violation', 'cut_off'] as const)(
    'is repaired if it occurs once; if it occurs again, there are local results or an error of the agent (`%s`) [analyses.errors]',
    async (kind) => {
      expect(await run('agent', [kind, 1])).toEqual(ANSWERED);
      expect(await run('agent', [kind, 2])).toEqual({
        outputs: [],
        errors: [{ mentionId: 'a', code: 'INVALID_ANSWER' }],
      });
      expect(await run('classify', [kind, 2])).toMatchObject({
        labels: [{ mentionId: 'a', class: 'billing' }],
        errors: [],
      });
      const [group] = (await run('group', [kind, 2])).groups ?? [];
      expect(group).toMatchObject({ mentionIds: ['a', 'b'] });
      expect(group?.label).not.toBe('late parcels');
      expect((await run('summarise', [kind, 2])).summary).toMatchObject({
        sentences: [{ text: expect.stringContaining('product=Acme 3;'), mentionIds: ['a'] }],
      });
    },
  );

  it.each([
    ['declined', 'INVALID_ANSWER'],
    ['403', 'UNAVAILABLE'],
  ] as const)('causes no second request if it is `%s`, and the agent returns %s', async (kind, code) => {
    expect(await run('agent', [kind, 1])).toEqual({ outputs: [], errors: [{ mentionId: 'a', code }] });
    expect(await run('classify', [kind, 1])).toMatchObject({ labels: [{ class: 'billing' }], errors: [] });
  });
});
