import type { Clock } from '#kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { behave, behaviourOfName, statusOf } from './behaviour.js';
import type { Behaviour } from './behaviour.js';
import { verifyDelivery } from './signature.js';
import type { Verdict } from './signature.js';

/** One received webhook attempt. */
export interface Delivery {
  /** ISO 8601. */
  at: string;
  hook: string;
  /** `webhook-id`; empty if it was missing. */
  id: string;
  /** Counts from 1 for each id on this hook. */
  attempt: number;
  /** `type` and `id` of the envelope; empty if the body is not an envelope, or is longer than 64 KiB. */
  type: string;
  eventId: string;
  bytes: number;
  /** True if the delivery has an `X-Signature` and all its signatures are correct. */
  verified: boolean;
  verdict: Verdict;
  /** Status of the answer; 0 if there was none. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The unchanged body, up to 64 KiB. */
  body: string;
}

/** The options of a receiver. */
export interface ReceiverOptions {
  clock: Clock;
  /** A secret that is valid for every hook, in addition to the hook's own secrets. */
  secret?: string | undefined;
  /** Called with each delivery, verified or not. */
  onDelivery?: ((delivery: Delivery) => void) | undefined;
  /** Maximum number of deliveries of each hook; above it, only the newer half is kept. Default: 5,000. */
  keptDeliveries?: number | undefined;
}

const KEPT_DELIVERIES = 5_000;
/** Maximum number of ids of a hook whose attempts are counted. Above it, the oldest id is deleted, to limit the memory. */
const COUNTED_IDS = 50_000;
const KEPT_BODY = 64 * 1024;
const EVERY_HOOK = '*';

interface Hook {
  secrets: string[];
  behaviour?: Behaviour | undefined;
  /** The newest deliveries. */
  deliveries: Delivery[];
  attempts: Map<string, number>;
  count: number;
  verified: number;
  accepted: number;
  distinct: number;
}

/** Receives webhooks: verifies their signatures, stores them, and answers as the hook is configured. */
export class Receiver {
  private readonly hooks = new Map<string, Hook>();

  constructor(private readonly options: ReceiverOptions) {
    if (options.secret) this.addSecret(EVERY_HOOK, options.secret);
  }

  /** Adds a secret for deliveries to this hook (`*`: to every hook). Older secrets stay valid. */
  addSecret(hook: string, secret: string): void {
    const { secrets } = this.hookOf(hook);
    if (!secrets.includes(secret)) secrets.push(secret);
  }

  /** Sets how the hook answers. This overrides the behaviour that its name selects. */
  setBehaviour(hook: string, behaviour: Behaviour): void {
    this.hookOf(hook).behaviour = behaviour;
  }

  /** Returns the newest deliveries of a hook, oldest first. */
  deliveries(hook: string): readonly Delivery[] {
    return this.hooks.get(hook)?.deliveries ?? [];
  }

  /** Deletes the deliveries and the counts of a hook. Its secrets and behaviour stay. */
  reset(hook: string): void {
    const known = this.hooks.get(hook);
    if (!known) return;
    Object.assign(known, { deliveries: [], count: 0, verified: 0, accepted: 0, distinct: 0 });
    known.attempts.clear();
  }

  /**
   * Returns the counts of one hook: attempts, verified attempts, attempts that were answered with 2xx, distinct ids,
   * repeated attempts.
   */
  countsOf(hook: string): {
    count: number;
    verified: number;
    accepted: number;
    distinct: number;
    repeated: number;
  } {
    const { count = 0, verified = 0, accepted = 0, distinct = 0 } = this.hooks.get(hook) ?? {};
    return { count, verified, accepted, distinct, repeated: count - distinct };
  }

  /** Returns the counts of each hook. */
  totals(): Record<string, object> {
    const names = [...this.hooks.keys()].filter((name) => name !== EVERY_HOOK);
    return Object.fromEntries(names.map((name) => [name, this.countsOf(name)]));
  }

  /** Receives one delivery and answers it. */
  async receive(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { name } = request.params as { name: string };
    const hook = this.hookOf(name);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const now = this.options.clock.now();
    const id = String(request.headers['webhook-id'] ?? '');
    const attempt = (hook.attempts.get(id) ?? 0) + 1;
    if (attempt === 1) hook.distinct += 1;
    hook.attempts.set(id, attempt);
    if (hook.attempts.size > COUNTED_IDS) hook.attempts.delete(hook.attempts.keys().next().value ?? '');
    const secrets = [...hook.secrets, ...(this.hooks.get(EVERY_HOOK)?.secrets ?? [])];
    const verdict = verifyDelivery(request.headers, body, secrets, now.getTime());
    const verified = verdict.faults.length === 0 && (verdict.signature || verdict.legacy);
    const behaviour = hook.behaviour ?? behaviourOfName(name);
    const status = statusOf(behaviour, attempt);
    const text = body.subarray(0, KEPT_BODY).toString();
    const delivery: Delivery = {
      ...{ at: now.toISOString(), hook: name, id, attempt, ...envelopeOf(text), bytes: body.length },
      ...{ verified, verdict, status, headers: request.headers, body: text },
    };
    this.remember(hook, delivery);
    this.options.onDelivery?.(delivery);
    return behave(behaviour, attempt, reply);
  }

  private remember(hook: Hook, delivery: Delivery): void {
    hook.count += 1;
    if (delivery.verified) hook.verified += 1;
    if (delivery.status >= 200 && delivery.status < 300) hook.accepted += 1;
    hook.deliveries.push(delivery);
    const { keptDeliveries = KEPT_DELIVERIES } = this.options;
    if (hook.deliveries.length > keptDeliveries) hook.deliveries = hook.deliveries.slice(-keptDeliveries / 2);
  }

  private hookOf(name: string): Hook {
    let hook = this.hooks.get(name);
    if (!hook) {
      hook = {
        secrets: [],
        deliveries: [],
        attempts: new Map(),
        count: 0,
        verified: 0,
        accepted: 0,
        distinct: 0,
      };
      this.hooks.set(name, hook);
    }
    return hook;
  }
}

/** Adds the routes `/hooks/:name`, `/hooks/:name/deliveries`, `/hooks/_secrets` and `/hooks/_behaviours`. */
export async function receiverRoutes(app: FastifyInstance, receiver: Receiver): Promise<void> {
  app.post('/hooks/_secrets', (request, reply) => {
    const { name, secret } = (request.body ?? {}) as { name?: unknown; secret?: unknown };
    if (typeof name !== 'string' || typeof secret !== 'string')
      return reply.code(400).send({ error: 'name and secret are strings' });
    receiver.addSecret(name, secret);
    return reply.code(204).send();
  });
  app.post('/hooks/_behaviours', (request, reply) => {
    const { name, behaviour } = (request.body ?? {}) as { name?: unknown; behaviour?: Behaviour };
    if (typeof name !== 'string' || typeof behaviour?.kind !== 'string') {
      return reply.code(400).send({ error: 'name is a string, behaviour an object with a kind' });
    }
    receiver.setBehaviour(name, behaviour);
    return reply.code(204).send();
  });
  app.get<{ Params: { name: string } }>('/hooks/:name/deliveries', ({ params }, reply) => {
    return reply.send({ ...receiver.countsOf(params.name), deliveries: receiver.deliveries(params.name) });
  });
  app.delete<{ Params: { name: string } }>('/hooks/:name/deliveries', ({ params }, reply) => {
    receiver.reset(params.name);
    return reply.code(204).send();
  });
  // Signatures cover the bytes that were sent, so the body must not be parsed before their check.
  await app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    raw.post('/hooks/:name', (request, reply) => receiver.receive(request, reply));
  });
}

function envelopeOf(body: string): { type: string; eventId: string } {
  try {
    const { type, id } = JSON.parse(body) as { type?: unknown; id?: unknown };
    return { type: typeof type === 'string' ? type : '', eventId: typeof id === 'string' ? id : '' };
  } catch {
    return { type: '', eventId: '' };
  }
}
