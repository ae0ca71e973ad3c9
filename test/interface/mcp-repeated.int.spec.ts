import { fromBinary } from '@bufbuild/protobuf';
import { StartExploreSchema } from '#contracts';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { ApiClient } from '#testing';
import { startMcp, type McpUnderTest } from './mcp-under-test.js';

let setup: McpUnderTest;
let bus: Bus;
const commandIds: string[] = [];

beforeAll(async () => {
  setup = await startMcp({});
  bus = await connectBus(setup.service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  // A polling service that gets the command, and whose answer cannot be read.
  bus.nc.subscribe(COMMANDS.startExplore.subject, {
    callback: (_, message) => {
      commandIds.push(fromBinary(StartExploreSchema, message.data).commandId);
      message.respond(Buffer.from([0xff]));
    },
  });
  await bus.nc.flush();
});
afterAll(async () => {
  await bus?.close();
  await setup?.stop();
});

it('an MCP call that starts an Explore sends the same command when the call is repeated with its Idempotency-Key after a 5xx', async () => {
  const { api } = await setup.service.tenant();
  const client = new ApiClient(setup.service.url, api.apiKey);
  const params = {
    name: 'run_explore',
    arguments: { question: 'acme', sources: ['hackernews'], wait_seconds: 0 },
  };
  const send = (key: string) =>
    client.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { 'idempotency-key': key, accept: 'application/json, text/event-stream' },
    );
  for (const key of ['one', 'one', 'two']) {
    const answer = await send(key);
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    expect(answer.body).toMatchObject({ result: { isError: true } });
  }
  const [first, repeated, other] = commandIds;
  expect(commandIds).toHaveLength(3);
  expect(repeated).toBe(first);
  expect(other).not.toBe(first);
});
