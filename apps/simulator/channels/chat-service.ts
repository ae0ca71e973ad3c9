import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ChannelService, Inbox } from './inbox.js';

/** The result of a chat service's check of a message. */
export interface CheckedMessage {
  /** The error text with which the service would refuse the message; undefined if it would accept the message. */
  fault?: string | undefined;
  /** The parts that would notify people. */
  pings: string[];
  /** The visible content, as text. */
  text: string;
}

/** One simulated chat service. */
export interface ChatService {
  service: Exclude<ChannelService, 'smtp'>;
  path: string;
  /** Returns the destination of a request: the path of a webhook, or the id of a chat. */
  toOf(params: Record<string, string>, body: Record<string, unknown>): string;
  read(body: Record<string, unknown>): CheckedMessage;
  accept(reply: FastifyReply, body: Record<string, unknown>): FastifyReply;
  /** Refuses a request. The answer has the format of the service. */
  refuse(reply: FastifyReply, status: number, message: string): FastifyReply;
}

/** Adds the route of a chat service. If the address of a request contains `gone`, the service answers 404. */
export function chatRoutes(app: FastifyInstance, chat: ChatService, inbox: Inbox): void {
  app.post(chat.path, { config: { source: chat.service } }, (request: FastifyRequest, reply) => {
    const body = (request.body ?? {}) as Record<string, unknown>;
    const to = chat.toOf(request.params as Record<string, string>, body);
    const isGone = /gone/i.test(request.url);
    const { fault, pings, text } = chat.read(body);
    const status = isGone ? 404 : fault === undefined ? 200 : 400;
    inbox.add({ service: chat.service, to, status, fault, pings, text, payload: body });
    if (isGone) return chat.refuse(reply, 404, 'Not Found');
    return fault === undefined ? chat.accept(reply, body) : chat.refuse(reply, 400, fault);
  });
}

/** Returns the objects of a list; empty if the value is not a list. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null)
    : [];
}

/** Returns the value, if it is a string; otherwise an empty string. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
