import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Browsers and clients wait this time before they connect again. */
const RECONNECT_MS = 2000;
/** Time between two comments. Without comments, proxies would close a connection on which no events are sent. */
const COMMENT_EVERY_MS = 15_000;

/**
 * One response of server-sent events (the `text/event-stream` of the HTML standard). Writes wait while the client does
 * not read.
 */
export class EventStream {
  private readonly response: ServerResponse;
  private readonly abort = new AbortController();
  private readonly comments: NodeJS.Timeout;
  /** Returns the id of the last event that the filter left out. The next comment contains this id. */
  private pendingId?: () => string;

  /** Takes control of the response from Fastify, with the headers that are already set. */
  constructor(reply: FastifyReply) {
    reply.hijack();
    this.response = reply.raw;
    this.response.once('close', () => this.end());
    this.response.on('error', () => this.end());
    this.response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      // Without this header, proxies such as nginx would collect the events and send them late.
      'x-accel-buffering': 'no',
    });
    this.response.write(`retry: ${RECONNECT_MS}\n\n`);
    this.comments = setInterval(() => this.comment(), COMMENT_EVERY_MS).unref();
  }

  /** Aborts when the client has left, or when `end` was called. */
  get ended(): AbortSignal {
    return this.abort.signal;
  }

  /** @param data this method converts it to JSON */
  send(event: string, id: string, data: unknown): Promise<void> {
    this.pendingId = undefined;
    // This JSON contains no line breaks, because `JSON.stringify` escapes them.
    return this.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Changes the client's `Last-Event-ID`. Sends no event. */
  sendId(id: string): Promise<void> {
    this.pendingId = undefined;
    return this.write(`id: ${id}\n\n`);
  }

  /** Changes the client's `Last-Event-ID` with the next comment, unless an event changes it earlier. */
  sendIdLater(id: () => string): void {
    this.pendingId = id;
  }

  end(): void {
    clearInterval(this.comments);
    this.abort.abort();
    this.response.end();
  }

  private comment(): void {
    // A client that does not read needs no comments.
    if (this.response.writableNeedDrain) return;
    const id = this.pendingId?.();
    this.pendingId = undefined;
    this.response.write(id === undefined ? ': still connected\n\n' : `: still connected\nid: ${id}\n\n`);
  }

  private async write(text: string): Promise<void> {
    if (this.ended.aborted || this.response.write(text)) return;
    await once(this.response, 'drain', { signal: this.ended }).catch(() => undefined);
  }
}
