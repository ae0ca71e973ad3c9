import type { components } from './api.js';
import { EarshotConnectionError, EarshotError } from './errors.js';
import type { Http } from './http.js';
import { backoffMs, pause } from './retry.js';
import type { OptionsOf } from './routes.js';
import { serverSentEvents, type ServerSentEvent } from './server-sent-events.js';

/** The filters of `GET /v1/stream`. */
export type StreamFilters = NonNullable<OptionsOf<'get', '/v1/stream'>['query']>;

/** The options of a stream of mentions. */
export interface StreamOptions {
  /** `id` of the last processed mention. The stream continues after this mention. */
  lastEventId?: string | undefined;
  /** Ends the stream; the iteration then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Called after each loss of the connection and each failed attempt to connect, before the next attempt. */
  onReconnect?: (error: unknown) => void;
  /**
   * Called when a connection is open, with the `id` after which the stream begins. A later stream can use
   * this `id` as `lastEventId`.
   */
  onOpen?: (lastEventId: string) => void;
}

/** A mention, and its id in the stream. */
export interface StreamedMention {
  /** Send this id as `lastEventId` to continue after the mention. */
  id: string;
  mention: components['schemas']['Mention'];
}

/**
 * The server sends something every 15 seconds. After 45 seconds without data, the client treats the connection as lost.
 */
const SILENCE_MS = 45_000;

/**
 * Returns new mentions. Connects again after every loss of the connection, for as long as the caller reads.
 * @throws EarshotError if the API refuses the stream, except because of an outage or the quota; the reason of `signal`
 * if this signal is aborted; an error that `onOpen` or `onReconnect` throws
 */
export async function* mentionStream(
  http: Http,
  filters: StreamFilters = {},
  { lastEventId = '', signal, onReconnect, onOpen }: StreamOptions = {},
): AsyncGenerator<StreamedMention, void, undefined> {
  let last = lastEventId;
  /** Losses and failed attempts to connect since the last open connection. */
  let losses = 0;
  for (;;) {
    let isOpen = false;
    const events = connection(http, filters, last, signal);
    try {
      let next = await events.next();
      for (; !next.done; next = await events.next()) {
        const { id, event, data } = next.value;
        if (!isOpen) onOpen?.(event === 'mention' ? last : id);
        isOpen = true;
        last = id;
        if (event !== 'mention') continue;
        const mention = parsed(data);
        if (mention === undefined) break;
        yield { id, mention };
      }
      signal?.throwIfAborted();
      // The stream continues after a mention that cannot be read, so that it does not fail at this mention for ever.
      const error = next.done ? next.value : new EarshotConnectionError(`the mention ${last} cannot be read`);
      if (error instanceof EarshotError && !isTemporary(error)) throw error;
      onReconnect?.(error);
      const { retryAfterSeconds = 0 } = error instanceof EarshotError ? error : {};
      await pause(retryAfterSeconds * 1000, signal);
    } finally {
      // Ends the connection if the caller stops reading, or if an error is thrown.
      await events.return(undefined);
    }
    losses = isOpen ? 1 : losses + 1;
    await pause(backoffMs(losses - 1), signal);
  }
}

/** Gives the caller the events of one connection, one after another. @returns why the connection has ended */
async function* connection(
  http: Http,
  filters: StreamFilters,
  lastEventId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent, unknown, undefined> {
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  // The timer runs only during a read. The time in which the caller works on a mention is no silence of the server.
  const reads = {
    begin() {
      timer = setTimeout(
        () => ended.abort(new EarshotConnectionError('the stream was silent for 45 s')),
        SILENCE_MS,
      );
    },
    end: () => clearTimeout(timer),
  };
  try {
    const ends = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
    // It is possible that a caller that aborts never reads from this generator again.
    ends.addEventListener('abort', () => clearTimeout(timer), { once: true });
    const call = {
      method: 'GET',
      path: '/v1/stream',
      query: filters,
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }),
      },
      signal: ends,
    };
    const response = await http.send(call, (answer) => answer);
    if (response.body) yield* serverSentEvents(response.body, reads);
    return new EarshotConnectionError('the server ended the stream');
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** Returns undefined for a text that is not JSON. */
function parsed(data: string): StreamedMention['mention'] | undefined {
  try {
    return JSON.parse(data) as StreamedMention['mention'];
  } catch {
    return undefined;
  }
}

function isTemporary({ status }: EarshotError): boolean {
  return status >= 500 || status === 429;
}
