/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  /** The last id that the server sent, with this event or an earlier event; empty if it sent no id. */
  id: string;
  /** `message` if the event has no name. */
  event: string;
  /**
   * Empty for a block that has only an id. Such a block changes only the position from which the stream
   * continues.
   */
  data: string;
}

/** Earshot never sends a longer line or event. Without this limit, another server could fill the memory. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

/**
 * Reads the events of a response as the HTML standard describes them.
 * @param reads is called before and after each read of the body, also if only comments arrive
 * @throws Error if one event is larger than 4 Mi characters
 */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  reads: { begin(): void; end(): void } = { begin: () => undefined, end: () => undefined },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const fields = new EventFields();
  let rest = '';
  try {
    for (;;) {
      reads.begin();
      const { done, value } = await reader.read().finally(() => reads.end());
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end can be the first half of a line break.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      if (rest.length > MAX_EVENT_LENGTH) throw new Error('an event of the stream is too large');
      for (const line of lines) {
        const event = fields.take(line);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

class EventFields {
  private id = '';
  private event = '';
  private data: string[] = [];
  private isIdNew = false;
  private size = 0;

  /** Reads a line. @returns the event that ends with this line, if the line is empty */
  take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.end();
    this.size += line.length;
    if (this.size > MAX_EVENT_LENGTH) throw new Error('an event of the stream is too large');
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'id' && !value.includes('\0')) {
      this.id = value;
      this.isIdNew = true;
    }
    return undefined;
  }

  private end(): ServerSentEvent | undefined {
    const { id, event, data, isIdNew } = this;
    this.event = '';
    this.data = [];
    this.isIdNew = false;
    this.size = 0;
    return data.length === 0 && !isIdNew
      ? undefined
      : { id, event: event || 'message', data: data.join('\n') };
  }
}
