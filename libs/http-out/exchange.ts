import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { beginSpan, endSpan, SpanKind } from '#telemetry';
import { createAnswerBody, type AnswerBody, type BodyEvents } from './answer-body.js';
import { OutboundError, toOutboundError } from './outbound-error.js';

/** One response, decoded. */
export interface Answer {
  readonly status: number;
  /** Lower-case names; repeated headers are joined with commas. */
  readonly headers: Record<string, string>;
  /** One element for each `Set-Cookie`: in a joined header the commas in dates would be ambiguous. */
  readonly setCookies?: readonly string[];
  readonly bytes: Buffer;
}

/** The limits of one exchange. */
export interface ExchangeBounds {
  /** The host name, for error texts and the span. */
  readonly host: string;
  /** The remaining time until the deadline, in milliseconds. */
  readonly remainingMs: number;
  /** The whole deadline in milliseconds, for the message of a timeout. */
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly overflow: 'cut' | 'error';
}

/** Called exactly once, with an error or with a response. The call can be synchronous: before `exchange` returns. */
export type AnswerCallback = (error: OutboundError | undefined, answer?: Answer) => void;

/** Sends one request. Calls `callback` at the deadline at the latest, whatever the server does. */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  bounds: ExchangeBounds,
  callback: AnswerCallback,
): void {
  const handler = new Exchange(bounds, traced(options.method, bounds.host, callback));
  try {
    dispatcher.dispatch(options, handler);
  } catch (error) {
    handler.fail(toOutboundError(error, bounds.host));
  }
}

/** Records the request as a span without path and query, because they can contain secrets. */
function traced(method: string, host: string, callback: AnswerCallback): AnswerCallback {
  const span = beginSpan(method, SpanKind.CLIENT, { 'http.request.method': method, 'server.address': host });
  if (!span) return callback;
  return (error, answer) => {
    if (answer) span.setAttribute('http.response.status_code', answer.status);
    endSpan(span, error);
    callback(error, answer);
  };
}

/** The reason for aborting an exchange that already has its outcome. This error is never reported. */
const SETTLED = new Error('settled');

class Exchange implements Dispatcher.DispatchHandler, BodyEvents {
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private settled = false;
  private status = 0;
  private headers: Record<string, string> = {};
  private setCookies: readonly string[] | undefined;
  private body: AnswerBody | undefined;

  constructor(
    private readonly bounds: ExchangeBounds,
    private readonly callback: AnswerCallback,
  ) {
    // One timer limits everything together: queue, DNS, connection, headers and body. Received data does not restart
    // the timer.
    this.timer = setTimeout(() => this.expire(), bounds.remainingMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // A request that has waited in the queue beyond its deadline must not be sent any more.
    if (this.settled) controller.abort(SETTLED);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.settled || status < 200) return;
    this.status = status;
    const cookies = headers['set-cookie'];
    if (cookies !== undefined) this.setCookies = [cookies].flat();
    this.headers = joinRepeated(headers);
    const { maxBytes, host } = this.bounds;
    const encoding = this.headers['content-encoding'];
    this.body = createAnswerBody(encoding, maxBytes, this);
    if (!this.body) {
      this.fail(new OutboundError('network', `${host} answered in a content encoding that is not supported`));
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.body?.write(chunk);
  }

  onResponseEnd(): void {
    // The response has arrived completely. From now on an abort would end the next request on the connection.
    this.controller = undefined;
    this.body?.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(toOutboundError(error, this.bounds.host));
  }

  whole(bytes: Buffer): void {
    if (!this.settle()) return;
    // The compressed content can end before the response, and such a response can stay open without end.
    this.abandon();
    this.answer(bytes);
  }

  overflow(bytes: Buffer): void {
    const { overflow, host, maxBytes } = this.bounds;
    if (overflow === 'error') {
      this.fail(new OutboundError('too_large', `${host} answered with more than ${sizeText(maxBytes)}`));
    } else if (this.settle()) {
      this.abandon();
      this.answer(bytes);
    }
  }

  broken(): void {
    this.fail(new OutboundError('network', `${this.bounds.host} answered with broken compression`));
  }

  fail(error: OutboundError): void {
    if (!this.settle()) return;
    this.abandon();
    this.callback(error);
  }

  private answer(bytes: Buffer): void {
    const { status, headers, setCookies } = this;
    this.callback(undefined, { status, headers, bytes, ...(setCookies && { setCookies }) });
  }

  private expire(): void {
    const { host, deadlineMs } = this.bounds;
    this.fail(
      new OutboundError('timeout', `${host} did not answer completely within ${secondsText(deadlineMs)}`),
    );
  }

  private settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.timer);
    return true;
  }

  private abandon(): void {
    this.body?.stop();
    this.controller?.abort(SETTLED);
  }
}

/** Joins repeated headers with commas. Changes its argument. */
function joinRepeated(headers: IncomingHttpHeaders): Record<string, string> {
  const all = headers as Record<string, string | string[] | undefined>;
  for (const name in all) {
    const value = all[name];
    if (Array.isArray(value)) all[name] = value.join(', ');
  }
  return all as Record<string, string>;
}

function secondsText(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))} s`;
}

function sizeText(bytes: number): string {
  if (bytes >= 1024 * 1024) return `${Math.floor(bytes / 1024 / 1024)} MiB`;
  return bytes >= 1024 ? `${Math.floor(bytes / 1024)} KiB` : `${bytes} bytes`;
}
