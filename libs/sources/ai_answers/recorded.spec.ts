import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { describeRecorded, type Outcome } from '../testing/recorded-answers.js';
import { ENGINES } from './answer.js';
import { aiAnswersSettings, createAiAnswersConnector } from './index.js';

const settings = aiAnswersSettings(
  Object.fromEntries(ENGINES.map((one) => [`AI_${one.toUpperCase()}_TOKEN`, 'k'])),
);
const answer = (engine: string): Outcome => ({ items: 1, ids: [`${engine}:answer.created`] });
const unread = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

const badKey = (status: number, engine: string) =>
  `ai_answers answered ${status}: ${engine} did not accept the key; check AI_${engine.toUpperCase()}_TOKEN`;
const notTaken = (engine: string) =>
  `ai_answers answered 400: ${engine} did not accept the request; if AI_${engine.toUpperCase()}_MODEL is set, check that it names a model with web search`;

describeRecorded(
  'ai_answers',
  {
    'openai-responses-1.json': answer('openai'),
    'openai-responses-2.json': answer('openai'),
    'openai-responses-3.json': answer('openai'),
    'openai-responses-4.json': answer('openai'),
    'openai-responses-5.json': answer('openai'),
    'openai-chat-search-1.json': unread('the older of OpenAI’s two interfaces'),
    'openai-chat-search-2.json': unread('the older of OpenAI’s two interfaces'),
    'openai-error-400-1.json': { error: 'unexpected_status', reason: notTaken('openai') },
    'openai-error-400-2.json': { error: 'unexpected_status', reason: notTaken('openai') },
    'openai-error-401-1.json': { error: 'unauthorized', reason: badKey(401, 'openai') },
    'openai-error-429-1.json': {
      error: 'quota_spent',
      reason:
        'ai_answers answered 429: the paid credit at openai is used up; add credit; Earshot tries again in an hour',
      retryAfterMs: 3_600_000,
    },
    'anthropic-messages-1.json': answer('anthropic'),
    'anthropic-messages-2.json': answer('anthropic'),
    'anthropic-messages-3.json': answer('anthropic'),
    'anthropic-error-400-1.json': { error: 'unexpected_status', reason: notTaken('anthropic') },
    'anthropic-error-401-1.json': { error: 'unauthorized', reason: badKey(401, 'anthropic') },
    'anthropic-error-429-1.json': {
      error: 'rate_limited',
      reason: 'ai_answers answered 429: anthropic gets too many requests',
    },
    'anthropic-error-529-1.json': {
      error: 'server_error',
      reason: 'ai_answers answered 529: the upstream failed; Earshot tries again later (anthropic)',
    },
    'perplexity-chat-1.json': answer('perplexity'),
    'perplexity-chat-2.json': answer('perplexity'),
    'perplexity-chat-3.json': answer('perplexity'),
    'perplexity-chat-4.json': answer('perplexity'),
    'perplexity-error-400-1.json': { error: 'unexpected_status', reason: notTaken('perplexity') },
    'perplexity-error-401-1.json': { error: 'unauthorized', reason: badKey(401, 'perplexity') },
    'gemini-generatecontent-1.json': answer('gemini'),
    'gemini-generatecontent-2.json': answer('gemini'),
    'gemini-generatecontent-3.json': answer('gemini'),
    'gemini-generatecontent-4.json': answer('gemini'),
    'gemini-interactions-1.json': unread('a newer interface of Gemini that is not stable yet'),
    'gemini-error-400-1.json': { error: 'unauthorized', reason: badKey(400, 'gemini') },
    'gemini-error-429-1.json': {
      error: 'rate_limited',
      reason: 'ai_answers answered 429: gemini gets too many requests, and asks to wait 48 s',
      retryAfterMs: 48_000,
    },
    'openrouter-chat-1.json': unread('an engine that Earshot does not support'),
    'xai-responses-1.json': {
      items: 1,
      ids: ['openai:answer.created'],
      notPolled: 'an engine that Earshot does not support, with the structure of OpenAI’s answers',
    },
  },
  ({ file, status, headers, bytes }) => {
    const engine = ENGINES.find((one) => file.startsWith(one)) ?? 'openai';
    const upstream = fakeUpstream('ai_answers', () => ({ status, headers, body: bytes }));
    const criteria = criteriaOf({ filters: { prompt: 'What is new?', brands: ['Ruby'], engines: [engine] } });
    return createAiAnswersConnector(settings).search(criteria, fakeContext(upstream.http));
  },
);
