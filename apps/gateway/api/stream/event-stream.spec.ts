import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { EventStream } from './event-stream.js';

/** A response whose client reads only when it is told to. */
class FakeResponse extends EventEmitter {
  text = '';
  status = 0;
  headers: Record<string, string> = {};
  writableNeedDrain = false;
  isEnded = false;

  writeHead(status: number, headers: Record<string, string>) {
    [this.status, this.headers] = [status, headers];
  }
  write(text: string) {
    this.text += text;
    return !this.writableNeedDrain;
  }
  end() {
    this.isEnded = true;
  }
}

function opened() {
  const response = new FakeResponse();
  const reply = { raw: response, hijack: () => undefined, getHeaders: () => ({ 'ratelimit-limit': 60 }) };
  const stream = new EventStream(reply as unknown as FastifyReply);
  response.text = '';
  return { response, stream };
}

describe('EventStream', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('sends an event as three lines, with the JSON in one of them', async () => {
    const { response, stream } = opened();
    await stream.send('mention', 'a1', { text: 'two\nlines\r\nand\u2028more' });
    expect(response.text).toBe('event: mention\nid: a1\ndata: {"text":"two\\nlines\\r\\nand\u2028more"}\n\n');
    expect(response.headers).toMatchObject({ 'ratelimit-limit': 60, 'x-accel-buffering': 'no' });
    stream.end();
  });

  it('sends a comment line every 15 s, with the id behind what was left out [stream.comment]', () => {
    const { response, stream } = opened();
    jest.advanceTimersByTime(15_000);
    expect(response.text).toBe(': still connected\n\n');
    stream.moveLater(() => 'b2');
    jest.advanceTimersByTime(30_000);
    expect(response.text).toBe(': still connected\n\n: still connected\nid: b2\n\n: still connected\n\n');
    stream.end();
    jest.advanceTimersByTime(60_000);
    expect(response.text).toHaveLength(': still connected\n\n'.length * 3 + 'id: b2\n'.length);
  });

  it('never moves behind an event that was sent after the one that was left out', async () => {
    const { response, stream } = opened();
    stream.moveLater(() => 'old');
    await stream.send('mention', 'new', {});
    jest.advanceTimersByTime(15_000);
    expect(response.text).not.toContain('old');
    stream.end();
  });

  it('waits while the client does not read, and ends when the client leaves', async () => {
    const { response, stream } = opened();
    response.writableNeedDrain = true;
    let isSent = false;
    const sending = stream.send('mention', 'a1', {}).then(() => (isSent = true));
    await Promise.resolve();
    expect(isSent).toBe(false);
    response.emit('drain');
    await sending;
    const another = stream.send('mention', 'a2', {});
    response.emit('close');
    await another;
    expect([stream.ended.aborted, response.isEnded]).toEqual([true, true]);
  });
});
