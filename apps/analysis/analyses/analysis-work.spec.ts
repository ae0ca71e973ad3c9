import { create } from '@bufbuild/protobuf';
import { RunAnalysisSchema } from '#contracts';
import { EmbeddingsUnavailable } from '#embeddings';
import { LlmError, type Llm, type LlmItem, type LlmReading } from '#llm';
import type { AnalysedMention, AnalysedMentions } from './analysed-mentions.js';
import { AnalysisWork } from './analysis-work.js';

const mention = (id: string, text = `text of ${id}`): AnalysedMention => ({
  id,
  source: 'rss',
  kind: 'article',
  title: '',
  text,
  author: '',
  community: '',
  own: text,
});

/** Every text has the same vector. Mentions without text have no vector. */
const mentions = {
  withVectors: async (all: readonly AnalysedMention[]) =>
    all
      .filter(({ own }) => own !== '')
      .map(({ id, own }) => ({ id, text: own, vector: Float32Array.of(1, 0) })),
  vectors: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1, 0)),
} satisfies Pick<AnalysedMentions, 'withVectors' | 'vectors'> as unknown as AnalysedMentions;

type Answer = (text: string) => unknown;

const LANE = { concurrency: 4, isAvailable: true };

/** Returns a model with the given answer about the text of each item. The reading checks each answer. */
function modelOf(answer: Answer): Llm {
  return {
    lane: LANE,
    async ask<T>(reading: LlmReading<T>, items: readonly LlmItem[]) {
      const values = items.map(({ text = '' }) => {
        const checked = reading.check(answer(text));
        return 'value' in checked ? checked.value : undefined;
      });
      return { values, model: 'm', promptVersion: '1', durationMs: 1 };
    },
  } as unknown as Llm;
}

const run = (operation: string, all: AnalysedMention[], llm?: Llm, more: Record<string, unknown> = {}) =>
  new AnalysisWork(mentions, llm).run(create(RunAnalysisSchema, { operation, ...more }), all);

const AGENT = { instruction: 'What broke?', schemaJson: '{"part":{"type":"string","maxLength":20}}' };

describe('the analysis `agent`', () => {
  it('returns an output for each mention, and null is a valid value', async () => {
    const model = modelOf((text) => ({ part: text === 'text of a' ? 'display' : null }));
    expect(await run('agent', [mention('a'), mention('b')], model, AGENT)).toEqual({
      outputs: [
        { mentionId: 'a', status: 'completed', output: { part: 'display' } },
        { mentionId: 'b', status: 'completed', output: { part: null } },
      ],
      errors: [],
    });
  });

  it('returns an error for a mention whose answer is invalid, and the outputs of the other mentions', async () => {
    const model = modelOf((text) => (text === 'text of a' ? { part: 7 } : { part: 'lid' }));
    expect(await run('agent', [mention('a'), mention('b')], model, AGENT)).toEqual({
      outputs: [{ mentionId: 'b', status: 'completed', output: { part: 'lid' } }],
      errors: [{ mentionId: 'a', code: 'INVALID_ANSWER' }],
    });
  });

  it.each([
    ['deadline', 'TIMEOUT'],
    ['timeout', 'TIMEOUT'],
    ['server_error', 'UNAVAILABLE'],
    ['rate_limited', 'UNAVAILABLE'],
  ] as const)('returns an error for each mention if the model fails with %s', async (kind, code) => {
    const model = {
      lane: LANE,
      ask: () => Promise.reject(new LlmError(kind, 'no answer')),
    } as unknown as Llm;
    expect(await run('agent', [mention('a')], model, AGENT)).toEqual({
      outputs: [],
      errors: [{ mentionId: 'a', code }],
    });
  });
});

it('a small analysis does not wait for all questions to the model of another account', async () => {
  const asked: string[] = [];
  const model = modelOf((text) => {
    asked.push(text);
    return { part: null };
  });
  const work = new AnalysisWork(mentions, model);
  const agent = (accountId: string, all: AnalysedMention[]) =>
    work.run(create(RunAnalysisSchema, { operation: 'agent', accountId, ...AGENT }), all);
  const many = Array.from({ length: 200 }, (_, n) => mention(`many-${n}`));
  await Promise.all([agent('large', many), agent('small', [mention('one')])]);
  // The model gets 8 mentions in one question, and two questions at the same time.
  expect(asked.indexOf('text of one')).toBeLessThan(3 * 8);
});

describe('the classes of mentions', () => {
  const classes = ['x', 'y'];

  it('come from the model if its answer is valid, otherwise from the meaning of the names in `classes`', async () => {
    const model = modelOf((text) =>
      text === 'text of a' ? { class: 'y', confidence: 0.9 } : { class: 'z' },
    );
    const { labels, errors } = await run('classify', [mention('a'), mention('b')], model, { classes });
    expect(labels).toEqual([
      { mentionId: 'a', class: 'y', confidence: 0.9 },
      { mentionId: 'b', class: 'x', confidence: 0.5 },
    ]);
    expect(errors).toEqual([]);
  });

  it('come from the meaning of the names in `classes` while the model is down, without a request to the model', async () => {
    const ask = jest.fn();
    const model = { lane: { ...LANE, isAvailable: false }, ask } as unknown as Llm;
    const { labels } = await run('classify', [mention('a')], model, { classes });
    expect([labels?.length, ask.mock.calls.length]).toEqual([1, 0]);
  });

  it('come from the meaning of the names in `classes` if the model does not answer', async () => {
    const model = {
      lane: LANE,
      ask: () => Promise.reject(new LlmError('server_error', '500')),
    } as unknown as Llm;
    expect((await run('classify', [mention('a')], model, { classes })).labels).toHaveLength(1);
  });

  it('are not requested from the model for a mention without text, which gets an error', async () => {
    const asked: string[] = [];
    const model = modelOf((text) => {
      asked.push(text);
      return { class: 'y', confidence: 0.9 };
    });
    expect(await run('classify', [mention('a', ''), mention('b')], model, { classes })).toEqual({
      labels: [{ mentionId: 'b', class: 'y', confidence: 0.9 }],
      errors: [{ mentionId: 'a', code: 'NO_TEXT' }],
    });
    expect(asked).toEqual(['text of b']);
  });

  describe('if the embeddings server refuses all class names', () => {
    const refusing = {
      ...mentions,
      vectors: async () => [undefined, undefined],
    } as unknown as AnalysedMentions;
    const command = create(RunAnalysisSchema, { operation: 'classify', classes });
    const classified = (llm: Llm | undefined, ...all: AnalysedMention[]) =>
      new AnalysisWork(refusing, llm).run(command, all);
    const onlyA = modelOf((text) =>
      text === 'text of a' ? { class: 'y', confidence: 0.9 } : { class: 'z' },
    );

    it('come from the model if its answers are valid', async () => {
      expect(await classified(onlyA, mention('a'), mention('b', ''))).toEqual({
        labels: [{ mentionId: 'a', class: 'y', confidence: 0.9 }],
        errors: [{ mentionId: 'b', code: 'NO_TEXT' }],
      });
    });

    it('cannot be found without a model', async () => {
      await expect(classified(undefined, mention('a'))).rejects.toThrow(EmbeddingsUnavailable);
    });

    it('come from the model, and a mention without a valid answer gets an error [analyses.errors]', async () => {
      expect(await classified(onlyA, mention('b'), mention('a'), mention('c', ''))).toEqual({
        labels: [{ mentionId: 'a', class: 'y', confidence: 0.9 }],
        errors: [
          { mentionId: 'c', code: 'NO_TEXT' },
          { mentionId: 'b', code: 'INVALID_ANSWER' },
        ],
      });
    });

    it('cannot be found if the model gives no valid answer', async () => {
      await expect(classified(onlyA, mention('b'), mention('c'))).rejects.toThrow(EmbeddingsUnavailable);
    });
  });
});

describe('groups and summaries with a language model', () => {
  it('label a whole group with the topic that the model states for only one of its mentions', async () => {
    const model = modelOf((text) => (text === 'text of a' ? { topic: 'Late delivery' } : { topic: '' }));
    const { groups, errors } = await run('group', [mention('a'), mention('b')], model);
    expect(groups).toEqual([{ key: 'late-delivery', label: 'Late delivery', mentionIds: ['a', 'b'] }]);
    expect(errors).toEqual([]);
  });

  it('use the sentence of the model, and cite the same mentions as without a model', async () => {
    const all = [mention('a', 'The lid broke on day one.'), mention('b', 'My lid is broken as well.')];
    const local = await run('summarise', all);
    const { summary } = await run(
      'summarise',
      all,
      modelOf(() => ({ sentence: 'Lids\nbreak.' })),
    );
    expect(summary).toEqual({
      text: 'Lids break.',
      sentences: [{ text: 'Lids break.', mentionIds: local.summary?.sentences[0]?.mentionIds }],
      reader: 'llm',
    });
  });

  it.each([{ sentence: '' }, { sentence: 'x'.repeat(401) }, { summary: 'Lids break.' }, null])(
    'keep the sentence of a mention if the model answers %j',
    async (answer) => {
      const all = [mention('a', 'The lid broke on day one.')];
      expect(
        (
          await run(
            'summarise',
            all,
            modelOf(() => answer),
          )
        ).summary?.text,
      ).toBe('The lid broke on day one.');
    },
  );
});

it('the analyses `group` and `summarise` report an error for a mention without text, because an empty text has no meaning', async () => {
  for (const operation of ['group', 'summarise'])
    expect((await run(operation, [mention('a'), mention('b', '')])).errors).toEqual([
      { mentionId: 'b', code: 'NO_TEXT' },
    ]);
  expect(await run('summarise', [mention('b', '')])).toMatchObject({ summary: { text: '', sentences: [] } });
});
