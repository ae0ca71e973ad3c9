import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLogger } from '#telemetry';
import type { Admission } from '../../auth/admission.js';
import { EventStream } from './event-stream.js';
import { OpenStreams } from './open-streams.js';

/** A response whose client reads only when the test permits the read. */
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

function replied() {
  const response = new FakeResponse();
  const reply = { raw: response, hijack: () => undefined, getHeaders: () => ({ 'ratelimit-limit': 60 }) };
  return { response, reply: reply as unknown as FastifyReply };
}

function opened() {
  const { response, reply } = replied();
  const stream = new EventStream(reply);
  response.text = '';
  return { response, stream };
}

describe('EventStream', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('sends an event as three lines, one of which contains the JSON', async () => {
    const { response, stream } = opened();
    await stream.send('mention', 'a1', { text: 'two\nlines\r\nand\u2028more' });
    expect(response.text).toBe('event: mention\nid: a1\ndata: {"text":"two\\nlines\\r\\nand\u2028more"}\n\n');
    expect(response.headers).toMatchObject({ 'ratelimit-limit': 60, 'x-accel-buffering': 'no' });
    stream.end();
  });

  it('sends a comment every 15 s, with the id of the last event that the filter has left out meanwhile [stream.comment]', () => {
    const { response, stream } = opened();
    jest.advanceTimersByTime(15_000);
    expect(response.text).toBe(': still connected\n\n');
    stream.sendIdLater(() => 'b2');
    jest.advanceTimersByTime(30_000);
    expect(response.text).toBe(': still connected\n\n: still connected\nid: b2\n\n: still connected\n\n');
    stream.end();
    jest.advanceTimersByTime(60_000);
    expect(response.text).toHaveLength(': still connected\n\n'.length * 3 + 'id: b2\n'.length);
  });

  it('drops the id of a left-out event when a later event is sent', async () => {
    const { response, stream } = opened();
    stream.sendIdLater(() => 'old');
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

/** Advances the timers, and waits for the promises that they started. */
async function later(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
}

describe('OpenStreams', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('ends a stream within 15 s after its key was revoked, but not while the key cannot be checked', async () => {
    const isStillValid = jest.fn<Promise<boolean>, []>().mockRejectedValueOnce(new Error('no database'));
    const streams = new OpenStreams({ isStillValid } as unknown as Admission, createLogger('spec', 'silent'));
    const { response, reply } = replied();
    streams.begin('account', {} as FastifyRequest, reply);
    await later(15_000);
    expect(response.isEnded).toBe(false);
    isStillValid.mockResolvedValue(false);
    await later(15_000);
    expect([response.isEnded, isStillValid.mock.calls.length]).toEqual([true, 2]);
    await later(60_000);
    expect(isStillValid.mock.calls.length).toBe(2);
  });
});
