import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SourceId } from '#contracts';
import { CHAT_SERVICES } from './channels/index.js';
import { answer, type SimulatedService } from './context.js';
import { answerFaults, LLM_FAULT_KINDS, type LlmFaultKind } from './llm/answer-faults.js';
import { llmServer } from './llm/routes.js';
import { SIMULATED } from './sources/index.js';
import type { SimulatedSource } from './sources/simulated-source.js';

/**
 * `slow` answers late; `html` answers with an HTML page in place of data; `truncated` closes the connection in the
 * middle of the answer; `shape` answers with well-formed data in another format; `empty` answers with an empty body;
 * `hang` never answers; a number is the status of the answer, which has the error format of the service. Stack Overflow
 * answers most of these statuses with 400, the status of its errors.
 */
export const FAULT_KINDS = [
  '429',
  '500',
  '503',
  '401',
  '403',
  '404',
  '410',
  'slow',
  'html',
  'truncated',
  'shape',
  'empty',
  'hang',
] as const;
/** A kind of fault that every simulated service can have. */
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault of a simulated service. */
export interface Fault {
  source: SimulatedService;
  kind: FaultKind | LlmFaultKind;
  /** Number of requests that get the fault; 0 means every request until the faults are deleted. */
  times: number;
  /** If set, the answer has this `Retry-After`. For statuses such as 429 and 503. */
  retryAfterSeconds?: number | undefined;
  /** For `slow`. Default: 1,000. */
  delayMs?: number | undefined;
  /** The fault affects only requests whose address contains this text. */
  path?: string | undefined;
}

/** Faults for requests, in the order in which they were added. */
export class Faults {
  private waiting: Fault[] = [];

  add(fault: Fault): void {
    this.waiting.push({ ...fault });
  }

  clear(): void {
    this.waiting = [];
  }

  get pending(): readonly Fault[] {
    return this.waiting;
  }

  /**
   * Returns the first fault for this request, if there is one, and reduces the number of requests that the fault will
   * still affect.
   */
  take(source: SimulatedService, url: string): Fault | undefined {
    const at = this.waiting.findIndex(
      (fault) => fault.source === source && (!fault.path || url.includes(fault.path)),
    );
    const fault = this.waiting[at];
    if (fault && fault.times > 0 && (fault.times -= 1) === 0) this.waiting.splice(at, 1);
    return fault;
  }
}

/**
 * Applies faults to requests to the simulated services, except sign-in requests. Calls `onFault` for each request that
 * has a fault.
 */
export function faultHooks(
  app: FastifyInstance,
  faults: Faults,
  onFault: (request: FastifyRequest, kind: Fault['kind']) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { source, signIn } = request.routeOptions.config;
    if (!source || signIn) return undefined;
    const fault = faults.take(source, request.url);
    if (!fault) return undefined;
    onFault(request, fault.kind);
    if (fault.kind === 'slow') {
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 1000));
      return undefined;
    }
    if (fault.kind === 'truncated') {
      truncated.add(request);
      return undefined;
    }
    if (isOfLlm(fault.kind)) {
      answerFaults.set(request, fault.kind);
      return undefined;
    }
    return applyFault(source, { ...fault, kind: fault.kind }, reply);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (!truncated.has(request) || typeof payload !== 'string') return payload;
    const bytes = Buffer.from(payload);
    reply.hijack();
    reply.raw.writeHead(reply.statusCode, {
      'content-type': reply.getHeader('content-type') ?? 'text/plain',
      'content-length': bytes.length,
    });
    reply.raw.write(bytes.subarray(0, bytes.length >> 1), () => reply.raw.destroy());
    return payload;
  });
}

const truncated = new WeakSet<FastifyRequest>();

function isOfLlm(kind: Fault['kind']): kind is LlmFaultKind {
  return (LLM_FAULT_KINDS as readonly string[]).includes(kind);
}

function simulationOf(source: SimulatedService): Pick<SimulatedSource, 'refuse' | 'changeShape'> {
  if (source === 'llm') return llmServer;
  return source in CHAT_SERVICES
    ? CHAT_SERVICES[source as keyof typeof CHAT_SERVICES]
    : SIMULATED[source as SourceId];
}

function applyFault(
  source: SimulatedService,
  { kind, retryAfterSeconds }: Fault & { kind: FaultKind },
  reply: FastifyReply,
): FastifyReply {
  if (retryAfterSeconds !== undefined) void reply.header('Retry-After', retryAfterSeconds);
  switch (kind) {
    case 'hang':
      // The socket stays open until the client or the simulator ends it.
      return reply.hijack();
    case 'empty':
      return reply.code(200).type('application/json').send('');
    case 'html':
      return reply
        .code(200)
        .type('text/html; charset=utf-8')
        .send('<!doctype html><html><body><h1>Just a moment...</h1></body></html>');
    case 'shape':
      return (
        simulationOf(source).changeShape?.(reply) ??
        answer(reply, 200, { status: 'ok', results: { items: [] } })
      );
    case 'slow':
    case 'truncated':
      throw new Error(`${kind} is not an answer`);
    default:
      return refuse(source, Number(kind), reply);
  }
}

const NAMES: Record<number, string> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  410: 'Gone',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

function refuse(source: SimulatedService, status: number, reply: FastifyReply): FastifyReply {
  const message = NAMES[status] ?? 'Error';
  return simulationOf(source).refuse(reply, status, message);
}
