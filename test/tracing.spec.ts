import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startProgram, until, type Program } from '#testing';
import { setStage, watchKeyword, welcome, type Stage } from './scenario.js';

interface ExportedSpan {
  traceId: string;
  name: string;
}

const exported: ExportedSpan[] = [];
let collector: Server;
let stage: Stage;
let program: Program;

beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[];
      };
      exported.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap(({ spans }) => spans)));
      response.end('{}');
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  stage = await setStage({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_TRACES_SAMPLER: 'always_on',
  });
  program = await startProgram('earshot', stage.env);
}, 90_000);
afterAll(async () => {
  await program?.stop();
  collector?.close();
  await stage?.close();
});

/** Waits for one trace that has all the spans. */
function traceWith(...names: string[]): Promise<unknown> {
  return until(
    `one trace has ${names.join(', ')}`,
    () => {
      const traces = new Map<string, Set<string>>();
      for (const { traceId, name } of exported)
        traces.set(traceId, (traces.get(traceId) ?? new Set()).add(name));
      return [...traces.values()].some((found) => names.every((name) => found.has(name)));
    },
    30_000,
  );
}

describe('one trace', () => {
  it('covers a create from its request to the keyword event, and a check from its read to the webhook', async () => {
    const { api } = await welcome(stage, program.url);
    await watchKeyword(api, {
      name: 'Kettle',
      refresh_interval_seconds: 1,
      global_criteria: { market: 'global', query: 'kettle' },
      sources: [{ source: 'hackernews', enabled: true }],
      webhook_url: `${stage.simulator.url}/hooks/traces`,
    });
    stage.simulator.world.publish('hackernews', { title: 'A kettle', text: 'My kettle sings' });
    await until('it is delivered', () => stage.simulator.receiver.deliveries('traces').length > 0, 30_000);
    await traceWith(
      'POST /v1/keywords',
      'commands.keywords.create-keyword',
      'process projection-schedule-v1',
    );
    await traceWith('check hackernews', 'GET', 'process delivery', 'POST', 'insert', 'SELECT');
  }, 120_000);
});
