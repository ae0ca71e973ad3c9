import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { create } from '@bufbuild/protobuf';
import { CreateKeySchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus } from '#messaging';
import { createLogger } from '#telemetry';
import { CommandClient } from '#transport';
import type { Json } from '#testing';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';

/** Agents on the interface under test, with the SDK's own client. */
export interface McpUnderTest {
  service: InterfaceUnderTest;
  /** Connects an agent with this key. `stop` closes the connection. */
  connect(apiKey: string, url?: string): Promise<Client>;
  /** Creates a key without a member. */
  key(accountId: string, more?: { scope?: string; mcpDailyCredits?: number }): Promise<NewKey>;
  /** Sends a command to the services. */
  commands<T>(work: (client: CommandClient) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

interface NewKey {
  keyId: string;
  apiKey: string;
}

/** Starts the interface with these settings. */
export async function startMcp(env: NodeJS.ProcessEnv): Promise<McpUnderTest> {
  const service = await startInterface(env);
  const open: Client[] = [];
  const commands = async <T>(work: (client: CommandClient) => Promise<T>) => {
    const bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    return work(new CommandClient(bus)).finally(() => bus.close());
  };
  return {
    service,
    commands,
    async connect(apiKey, url = service.url) {
      const client = new Client({ name: 'spec', version: '1' });
      const requestInit = { headers: { 'x-api-key': apiKey } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
      // The SDK checks the answers of a tool with its output schema only after the agent has listed the tools.
      await client.listTools();
      open.push(client);
      return client;
    },
    key(accountId, more = {}) {
      const command = {
        commandId: newId(),
        accountId,
        name: 'agent',
        scope: 'write',
        expiresAt: '',
        ...more,
      };
      return commands((client) => client.request(COMMANDS.createKey, create(CreateKeySchema, command)));
    },
    async stop() {
      await Promise.all(open.map((client) => client.close()));
      await service.stop();
    },
  };
}

/** Calls a tool. The SDK checks the answer with the tool's output schema. */
export async function callTool(agent: Client, name: string, args: object = {}): Promise<Json> {
  const answer = await agent.callTool({ name, arguments: args as Record<string, unknown> });
  const [content] = answer.content as { text: string }[];
  const body = JSON.parse(content?.text ?? '') as Json;
  if (!answer.isError) expect(answer.structuredContent).toEqual(body);
  return answer.isError ? { isError: true, ...body } : body;
}
