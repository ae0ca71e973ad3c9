import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer } from './context.js';
import { VOICES } from './sources/index.js';
import type { SourceId } from '#contracts';

/**
 * `slow` answers late; `html` is a page where data was asked for; `truncated` ends half way through the answer;
 * `shape` is well-formed and not what the source speaks; `empty` has no byte; `hang` never answers; a number is
 * that status as the source would send it.
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
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  source: SourceId;
  kind: FaultKind;
  /** Requests that it befalls; 0 is every one until faults are deleted. */
  times: number;
  /** With 429 and 503. */
  retryAfterSeconds?: number | undefined;
  /** With `slow`. */
  delayMs?: number | undefined;
  /** Only requests whose address holds this text. */
  path?: string | undefined;
}

/** Troubles that requests run into, in the order in which they were asked for; sign-in is spared. */
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

  /** The fault that this request runs into, used up by one. */
  take(source: SourceId, url: string): Fault | undefined {
    const at = this.waiting.findIndex(
      (fault) => fault.source === source && (!fault.path || url.includes(fault.path)),
    );
    const fault = this.waiting[at];
    if (fault && fault.times > 0 && (fault.times -= 1) === 0) this.waiting.splice(at, 1);
    return fault;
  }
}

/** Lets requests of the sources run into faults. `fell` is told of each. */
export function faultHooks(
  app: FastifyInstance,
  faults: Faults,
  fell: (request: FastifyRequest, kind: FaultKind) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { source, signIn } = request.routeOptions.config;
    if (!source || signIn) return undefined;
    const fault = faults.take(source, request.url);
    if (!fault) return undefined;
    fell(request, fault.kind);
    if (fault.kind === 'slow') {
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 1000));
      return undefined;
    }
    if (fault.kind === 'truncated') {
      truncated.add(request);
      return undefined;
    }
    return befall(source, fault, reply);
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

function befall(source: SourceId, { kind, retryAfterSeconds }: Fault, reply: FastifyReply): FastifyReply {
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
        VOICES[source].changeShape?.(reply) ?? answer(reply, 200, { status: 'ok', results: { items: [] } })
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

function refuse(source: SourceId, status: number, reply: FastifyReply): FastifyReply {
  const message = NAMES[status] ?? 'Error';
  return VOICES[source].refuse(reply, status, message);
}
