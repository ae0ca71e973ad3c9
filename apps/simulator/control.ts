import type { FastifyInstance, FastifyReply } from 'fastify';
import { CHAT_SERVICES } from './channels/index.js';
import type { Inbox } from './channels/inbox.js';
import { answer, queryOf } from './context.js';
import { FAULT_KINDS } from './faults.js';
import type { Fault, Faults } from './faults.js';
import { LLM_FAULT_KINDS } from './llm/answer-faults.js';
import type { Receiver } from './receiver/receiver.js';
import type { RequestLog } from './request-log.js';
import { postView } from './sources/bluesky/posts.js';
import { SIMULATED_SOURCES, SIMULATED } from './sources/index.js';
import type { SourceId } from '#contracts';
import { POST_KINDS } from './world/post.js';
import type { PostChange, PostInput, World } from './world/world.js';
import type { SimPost } from './world/post.js';

/** The parts of the simulator that the routes under `/_sim` read and change. */
export interface Controlled {
  world: World;
  faults: Faults;
  log: RequestLog;
  receiver: Receiver;
  inbox: Inbox;
}

/**
 * Adds the routes with which tests control the simulator: `/_sim/posts` (POST, PATCH; DELETE with an id deletes one
 * post, and without an id all posts of a source), `/_sim/burst`, `/_sim/faults`, `/_sim/requests`, `/_sim/messages`
 * (of channels), `/_sim/stats`.
 */
export function controlRoutes(
  app: FastifyInstance,
  { world, faults, log, receiver, inbox }: Controlled,
): void {
  app.post('/_sim/posts', (request, reply) => {
    const body = (request.body ?? {}) as Record<string, unknown>;
    const input = readPost(body);
    if (typeof input === 'string') return refuse(reply, input);
    return answer(reply, 201, published(world.publish(input.source, input)));
  });
  app.patch('/_sim/posts', (request, reply) => {
    const { source, id, ...body } = (request.body ?? {}) as Record<string, unknown>;
    if (!isSimulated(source)) return refuse(reply, `source must be one of ${SIMULATED_SOURCES.join(', ')}`);
    const post = world.change(source, String(id), readChange(body));
    return post ? answer(reply, 200, published(post)) : answer(reply, 404, { error: 'no such post' });
  });
  app.delete('/_sim/posts', (request, reply) => {
    const { one } = queryOf(request);
    const source = one('source');
    if (!isSimulated(source)) return refuse(reply, `source must be one of ${SIMULATED_SOURCES.join(', ')}`);
    const id = one('id');
    if (id === undefined) {
      world.clear(source);
      return reply.code(204).send();
    }
    return world.remove(source, id) ? reply.code(204).send() : answer(reply, 404, { error: 'no such post' });
  });
  app.post('/_sim/burst', (request, reply) => {
    const body = (request.body ?? {}) as Record<string, unknown>;
    const input = readPost(body);
    if (typeof input === 'string') return refuse(reply, input);
    const count = Number(body.count);
    if (!Number.isInteger(count) || count < 1 || count > 100_000)
      return refuse(reply, 'count must be a whole number from 1 to 100000');
    const numbered = (text: string | undefined, n: number) => text?.replaceAll('{n}', String(n));
    const posts = Array.from({ length: count }, (_, i) => {
      const text = numbered(input.text, i + 1) ?? '';
      return world.publish(input.source, { ...input, text, title: numbered(input.title, i + 1) });
    });
    return answer(reply, 201, { count, ids: posts.map(({ id }) => id) });
  });
  app.post('/_sim/faults', (request, reply) => {
    const { source, kind, times, retryAfterSeconds, delayMs, path } = (request.body ?? {}) as Record<
      string,
      unknown
    >;
    if (!isSimulated(source) && source !== 'llm' && !isChat(source))
      return refuse(
        reply,
        `source must be one of ${[...SIMULATED_SOURCES, 'llm', ...Object.keys(CHAT_SERVICES)].join(', ')}`,
      );
    const kinds: readonly Fault['kind'][] =
      source === 'llm' ? [...FAULT_KINDS, ...LLM_FAULT_KINDS] : FAULT_KINDS;
    const known = kinds.find((each) => each === kind);
    if (!known) return refuse(reply, `kind must be one of ${kinds.join(', ')}`);
    const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
    faults.add({
      source,
      kind: known,
      times: number(times) ?? 1,
      retryAfterSeconds: number(retryAfterSeconds),
      delayMs: number(delayMs),
      path: typeof path === 'string' ? path : undefined,
    });
    return answer(reply, 201, { pending: faults.pending });
  });
  app.get('/_sim/faults', (_, reply) => answer(reply, 200, { pending: faults.pending }));
  app.delete('/_sim/faults', (_, reply) => {
    faults.clear();
    return reply.code(204).send();
  });
  app.get('/_sim/requests', (request, reply) =>
    answer(reply, 200, log.report(queryOf(request).one('source'))),
  );
  app.delete('/_sim/requests', (_, reply) => {
    log.clear();
    return reply.code(204).send();
  });
  app.get('/_sim/messages', (request, reply) => {
    const { one } = queryOf(request);
    return answer(reply, 200, { messages: inbox.messages(one('service'), one('to')) });
  });
  app.delete('/_sim/messages', (_, reply) => {
    inbox.clear();
    return reply.code(204).send();
  });
  app.get('/_sim/stats', (_, reply) => {
    const posts = Object.fromEntries(SIMULATED_SOURCES.map((source) => [source, world.posts(source).length]));
    return answer(reply, 200, {
      startedAt: new Date(world.startedAt).toISOString(),
      posts,
      receiver: receiver.totals(),
    });
  });
}

function readPost(body: Record<string, unknown>): (PostInput & { source: SourceId }) | string {
  const { source } = body;
  if (!isSimulated(source)) return `source must be one of ${SIMULATED_SOURCES.join(', ')}`;
  if (typeof body.text !== 'string') return 'text must be a string';
  const text = (key: string) => (typeof body[key] === 'string' ? body[key] : undefined);
  const kind = POST_KINDS.find((each) => each === body.kind);
  const publishedAt = text('publishedAt');
  if (publishedAt !== undefined && Number.isNaN(Date.parse(publishedAt)))
    return 'publishedAt must be an ISO 8601 time';
  const more = {
    title: text('title'),
    author: text('author'),
    community: text('community'),
    lang: text('lang'),
    link: text('link'),
    currency: text('currency'),
    priceCents: Number.isInteger(body.priceCents) ? Number(body.priceCents) : undefined,
    promoted: typeof body.promoted === 'boolean' ? body.promoted : undefined,
  };
  return { source, text: body.text, kind, publishedAt, ...more };
}

function readChange(body: Record<string, unknown>): PostChange {
  const { title, text, priceCents, currency } = body;
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof text === 'string' && { text }),
    ...(typeof currency === 'string' && { currency }),
    ...(Number.isInteger(priceCents) && { priceCents: Number(priceCents) }),
  };
}

/** Returns the data with which a test finds the post in Earshot. */
function published(post: SimPost): object {
  const named = SIMULATED[post.source].itemIdOf;
  const itemId = named ? named(post) : post.id;
  return {
    source: post.source,
    externalId: post.id,
    // The id in the envelope. It is absent if only the connector can compute this id, for example for a feed.
    ...(itemId && { itemId }),
    kind: post.kind,
    title: post.title,
    author: post.author,
    community: post.community,
    publishedAt: new Date(post.publishedAt).toISOString(),
    ...(post.source === 'bluesky' && { cid: (postView(post) as { cid: string }).cid }),
  };
}

function isSimulated(source: unknown): source is SourceId {
  return (SIMULATED_SOURCES as readonly unknown[]).includes(source);
}

function isChat(source: unknown): source is keyof typeof CHAT_SERVICES {
  return typeof source === 'string' && Object.hasOwn(CHAT_SERVICES, source);
}

function refuse(reply: FastifyReply, error: string): FastifyReply {
  return answer(reply, 400, { error });
}
