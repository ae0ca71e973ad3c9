import { OutboundError, type OutboundHttp } from '#http-out';
import { createLogger } from '#telemetry';
import { Llm } from './llm.js';
import { analysisReading } from './prompts/analysis.js';

const MINUTE_MS = 60_000;
const reading = analysisReading({ names: ['Acme'], role: 'own', about: '' });

/** Asks a server whose requests time out after this time. @returns the error */
async function ask(timesOutAfterMs: number, withinMs: number): Promise<unknown> {
  const request = async () => {
    await new Promise((resolve) => setTimeout(resolve, timesOutAfterMs));
    throw new OutboundError('timeout', 'no connection');
  };
  const http = { request, close: () => Promise.resolve() } as unknown as OutboundHttp;
  const budget = { concurrency: 1, requestsPerMinute: 60, timeoutMs: MINUTE_MS };
  const options = { url: 'http://model.example.org/v1', model: 'm', token: '', userAgent: 'spec', http };
  const llm = new Llm({ ...options, ...budget }, http, createLogger('spec', 'silent'));
  const error: unknown = await llm
    .askOnce(reading, [{ text: 'Acme is great' }], Date.now() + withinMs)
    .catch((thrown: unknown) => thrown);
  await llm.close();
  return error;
}

it('a request to the language model that fails long before the deadline counts as a failure of the server', async () => {
  expect(await ask(0, MINUTE_MS / 2)).toMatchObject({ kind: 'timeout' });
});

it('a request to the language model that lasts until the deadline does not count as a failure of the server', async () => {
  expect(await ask(60, 50)).toMatchObject({ kind: 'deadline' });
});
