import type { FastifyReply } from 'fastify';

/** How a hook answers. */
export type Behaviour =
  | { kind: 'ok' }
  | { kind: 'status'; status: number; retryAfterSeconds?: number }
  /** Answers 200 after this time. */
  | { kind: 'slow'; delayMs: number }
  /** Never answers. */
  | { kind: 'hang' }
  /** Sends the status immediately, then one byte per interval until the connection closes. */
  | { kind: 'drip'; everyMs: number }
  | { kind: 'redirect'; to: string }
  /** Closes the connection without an answer. */
  | { kind: 'close' }
  /** Answers 200 with this number of bytes. */
  | { kind: 'huge'; bytes: number }
  /** Answers 500 to the first attempts of each delivery, as many as `failures`; then 200. */
  | { kind: 'flaky'; failures: number };

/**
 * Returns the behaviour that a hook's name selects: `status-503`, `slow-2000`, `hang`, `drip`, `redirect`, `close`,
 * `huge`, `flaky-2`, each optionally followed by a dash and any text (`hang-a`, `status-503-b`). With any other name,
 * the hook answers 200.
 */
export function behaviourOfName(name: string): Behaviour {
  const [word = '', number = ''] = name.split('-');
  const value = Number(number);
  switch (word) {
    case 'status':
      return value >= 200 && value <= 599 ? { kind: 'status', status: value } : { kind: 'ok' };
    case 'slow':
      return { kind: 'slow', delayMs: value || 2000 };
    case 'hang':
      return { kind: 'hang' };
    case 'drip':
      return { kind: 'drip', everyMs: value || 500 };
    case 'redirect':
      return { kind: 'redirect', to: '/hooks/redirected' };
    case 'close':
      return { kind: 'close' };
    case 'huge':
      return { kind: 'huge', bytes: value || 10 * 1024 * 1024 };
    case 'flaky':
      return { kind: 'flaky', failures: value || 1 };
    default:
      return { kind: 'ok' };
  }
}

/** Returns the status of the answer, 0 if there is no answer. `attempt` counts from 1 for each delivery. */
export function statusOf(behaviour: Behaviour, attempt: number): number {
  switch (behaviour.kind) {
    case 'status':
      return behaviour.status;
    case 'redirect':
      return 302;
    case 'hang':
    case 'close':
      return 0;
    case 'flaky':
      return attempt <= behaviour.failures ? 500 : 200;
    case 'ok':
    case 'slow':
    case 'drip':
    case 'huge':
      return 200;
  }
}

/** Answers according to the behaviour. */
export async function behave(behaviour: Behaviour, attempt: number, reply: FastifyReply): Promise<unknown> {
  const status = statusOf(behaviour, attempt);
  switch (behaviour.kind) {
    case 'hang':
      return reply.hijack();
    case 'close':
      reply.hijack();
      return reply.raw.destroy();
    case 'drip':
      return drip(reply, behaviour.everyMs);
    case 'redirect':
      return reply.code(status).header('location', behaviour.to).send();
    case 'huge':
      return reply.code(status).type('text/plain').send(Buffer.alloc(behaviour.bytes, 'x'));
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, behaviour.delayMs));
      return reply.code(status).send();
    case 'status':
      if (behaviour.retryAfterSeconds !== undefined)
        void reply.header('retry-after', behaviour.retryAfterSeconds);
      return reply.code(status).send();
    case 'ok':
    case 'flaky':
      return reply.code(status).send();
  }
}

function drip(reply: FastifyReply, everyMs: number): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/plain' });
  const timer = setInterval(() => reply.raw.write('.'), everyMs);
  reply.raw.on('close', () => clearInterval(timer));
  return reply;
}
