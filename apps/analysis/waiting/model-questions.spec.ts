import { create } from '@bufbuild/protobuf';
import { EventSchema, ReadingAskedSchema } from '#contracts';
import type { OutboundHttp } from '#http-out';
import { Llm } from '#llm';
import { createLogger } from '#telemetry';
import type { ItemBuckets } from '../readings/item-buckets.js';
import { ModelQuestions, type OpenQuestion } from './model-questions.js';

const VALID = {
  sentiment: 'negative',
  sentimentScore: -0.5,
  sentimentReason: 'x',
  intent: 'complaint',
  intentReason: 'x',
};

/** Creates a model that answers once, with an invalid answer for the second of three items, and then refuses requests. */
function failingModel(): Llm {
  const items = [VALID, { ...VALID, sentiment: 'splendid' }, VALID];
  const content = JSON.stringify({ items: items.map((answer, index) => ({ n: index + 1, answer })) });
  const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] });
  const answers = [
    { status: 200, headers: { 'content-type': 'application/json' }, bytes: Buffer.from(body), url: '' },
    { status: 429, headers: { 'retry-after': '7' }, bytes: Buffer.from('{}'), url: '' },
  ];
  const http = { request: async () => answers.shift(), close: async () => {} } as unknown as OutboundHttp;
  const options = { url: 'http://127.0.0.1:1/v1', model: 'm', token: '', userAgent: 'spec', http };
  const budget = { concurrency: 1, requestsPerMinute: 6000, timeoutMs: 1000 };
  return new Llm({ ...options, ...budget }, http, createLogger('spec', 'silent'));
}

it('the valid answers of a response are kept if the second request, which asks again for the invalid answer, fails', async () => {
  const questions = ['one', 'two', 'three'].map((text): OpenQuestion => {
    const draft = create(EventSchema, { matched: { item: { text } } });
    const asked = create(ReadingAskedSchema, { analysis: true, draft });
    return { claimed: { deadlineAt: Date.now() + 60_000, tries: 1 }, asked } as OpenQuestion;
  });
  const buckets = { labels: async () => [] } as unknown as ItemBuckets;
  const results = await new ModelQuestions(failingModel(), buckets).ask(questions);
  const answered = { analysis: { kind: 'answered', value: { sentiment: 'negative' } } };
  expect(results).toMatchObject([answered, { waitMs: 7000 }, answered]);
});
