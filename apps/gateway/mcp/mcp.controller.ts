import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import { LOG } from '#platform';
import type { Logger } from '#telemetry';
import type { Caller } from '../auth/api-keys.js';
import { From } from '../auth/caller.js';
import { commandIdOf } from '../http/command-id.js';
import type { ErrorAnswer } from '../http/error.filter.js';
import { setHiddenFailure } from '../http/hidden-failure.js';
import { LongAnswer } from '../http/long-answer.js';
import { mcpServer } from './mcp-server.js';
import { McpRoutes } from './mcp-routes.js';
import { McpSpending } from './mcp-spending.js';

const PATH = '/mcp';
const JSON_RPC_INVALID_REQUEST = -32600;
const JSON_RPC_SERVER_ERROR = -32000;
const POST_ONLY = {
  error: 'only POST is allowed: the server has no sessions and no streams',
  code: 'METHOD_NOT_ALLOWED',
};

/**
 * The MCP server: streamable HTTP, stateless, with the API keys, quotas and limits of the HTTP interface. Each request
 * creates its own server object, so any gateway can answer any request.
 */
@Controller('mcp')
export class McpController {
  constructor(
    private readonly routes: McpRoutes,
    private readonly spending: McpSpending,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** The tool `backtest_rules` takes as long as a backtest. */
  @Post()
  @LongAnswer()
  async receive(
    @From() caller: Caller,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { by } = caller;
    if (by.kind !== 'key')
      throw new Refusal('unauthenticated', 'UNAUTHORIZED', 'MCP needs an API key in the header x-api-key');
    // Each message counts as one request of the quota. The protocol has no batches since version 2025-06-18.
    if (Array.isArray(body)) throw Refusal.validation([{ path: '', message: 'batches are not supported' }]);
    const context = {
      caller: { ...caller, by },
      routes: this.routes,
      spending: this.spending,
      commandId: commandIdOf(request),
    };
    const server = mcpServer(context, this.log, (status) => setHiddenFailure(request, status));
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const answer = await transport.handleRequest(transportRequest(request), { parsedBody: body });
      for (const [name, value] of answer.headers) void reply.header(name, value);
      void reply.status(answer.status).send(await answer.text());
    } finally {
      await server.close();
    }
  }

  /** Answers with the status that the protocol requires from a server without streams. */
  @Get()
  @HttpCode(405)
  @Header('allow', 'POST')
  refuseStream() {
    return POST_ONLY;
  }

  // A separate handler, because Nest uses only one of the decorators `@Get` and `@Delete` of a handler.
  /** DELETE ends a session. Answers with the status that the protocol requires from a server without sessions. */
  @Delete()
  @HttpCode(405)
  @Header('allow', 'POST')
  refuseEndOfSession() {
    return POST_ONLY;
  }
}

/** Returns the request without its body, which is already parsed. */
function transportRequest({ headers }: FastifyRequest): Request {
  const names = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];
  const kept = names.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request(`http://localhost${PATH}`, { method: 'POST', headers: kept });
}

/** Under `/mcp`, gives refusals of the gateway itself (key, quota, size) the form of JSON-RPC. */
export function answerInJsonRpc(fastify: FastifyInstance): void {
  fastify.addHook('preSerialization', (request, reply, payload, done) => {
    const isMcpRefusal = request.url.split('?', 1)[0] === PATH && reply.statusCode >= 400;
    const refusal = payload as Partial<ErrorAnswer['body']> | null;
    if (!isMcpRefusal || typeof refusal?.error !== 'string') return done(null, payload);
    const code = reply.statusCode === 400 ? JSON_RPC_INVALID_REQUEST : JSON_RPC_SERVER_ERROR;
    const error = { code, message: refusal.error, data: { code: refusal.code } };
    done(null, { jsonrpc: '2.0', error, id: null });
  });
}
