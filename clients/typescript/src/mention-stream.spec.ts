import type { Http } from './http.js';
import { createClient, EarshotConnectionError, type Client } from './index.js';
import { mentionStream } from './mention-stream.js';
import { json, ScriptedServer, type Answer } from '../testing/scripted-server.js';

let script: ScriptedServer | undefined;
let client: Client;

async function start(...answers: Answer[]): Promise<ScriptedServer> {
  script = await ScriptedServer.of(...answers);
  client = createClient({ baseUrl: `${script.url}/`, apiKey: 'ek_1' });
  return script;
}

afterEach(async () => {
  await script?.close();
  script = undefined;
});

describe('`stream`', () => {
  const events =
    (text: string, isEnded = true): Answer =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text);
      if (isEnded) response.end();
    };

  it('continues after the last mention if the connection was lost', async () => {
    const { seen } = await start(
      events(': hello\n\nid: a\nevent: mention\ndata: {"id":"1"}\n\n'),
      json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '0' }),
      events('id: b\r\nevent: mention\r\ndata: {"id":\r\ndata: "2"}\r\n\r\nevent: other\ndata: x\n\n', false),
    );
    const found = [];
    for await (const { id, mention } of client.stream({ source: 'rss' }, { lastEventId: '0' })) {
      found.push([id, mention.id]);
      if (found.length === 2) break;
    }
    expect(found).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    expect(seen.map(({ url, headers }) => [url, headers['last-event-id']])).toEqual([
      ['/v1/stream?source=rss', '0'],
      ['/v1/stream?source=rss', 'a'],
      ['/v1/stream?source=rss', 'a'],
    ]);
  });

  it('continues from the beginning of the stream if the connection is lost before the first mention', async () => {
    const { seen } = await start(
      events('id: begin\n\n'),
      events('id: a\nevent: mention\ndata: {"id":"1"}\n\n', false),
    );
    const opened: string[] = [];
    for await (const { id } of client.stream({}, { onOpen: (id) => opened.push(id) })) {
      expect(id).toBe('a');
      break;
    }
    expect(seen[1]?.headers['last-event-id']).toBe('begin');
    expect(opened).toEqual(['begin', 'begin']);
  });

  it('throws if the API refuses the stream', async () => {
    await start(json(401, { error: 'the API key is not valid', code: 'UNAUTHORIZED' }));
    await expect(client.stream().next()).rejects.toMatchObject({ status: 401 });
  });

  it('throws an error of `onOpen` to the caller, and closes the connection', async () => {
    let closed: Promise<void> | undefined;
    const { seen } = await start((request, response, body) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      events('id: begin\n\n', false)(request, response, body);
    });
    const fail = () => {
      throw new Error('not stored');
    };
    await expect(client.stream({}, { onOpen: fail }).next()).rejects.toThrow('not stored');
    await closed;
    expect(seen).toHaveLength(1);
  });

  it('reports a mention that is not JSON as a loss, and continues after it', async () => {
    await start(
      events('id: a\nevent: mention\ndata: {"id":\n\n', false),
      events('id: b\nevent: mention\ndata: {"id":"2"}\n\n', false),
    );
    const losses: unknown[] = [];
    const stream = client.stream({}, { onReconnect: (error) => losses.push(error) });
    expect((await stream.next()).value).toEqual({ id: 'b', mention: { id: '2' } });
    expect(losses).toEqual([new EarshotConnectionError('the mention a cannot be read')]);
    await stream.return();
  });

  it('keeps its connection even if the caller works on one mention for a minute', async () => {
    jest.useFakeTimers();
    let sent = 0;
    const send = ({ signal }: { signal: AbortSignal }) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
        pull: (controller) =>
          controller.enqueue(Buffer.from(`id: ${(sent += 1)}\nevent: mention\ndata: {"id":"${sent}"}\n\n`)),
      });
      return Promise.resolve({ body });
    };
    const losses: unknown[] = [];
    const stream = mentionStream({ send } as unknown as Http, {}, { onReconnect: (one) => losses.push(one) });
    expect((await stream.next()).value).toMatchObject({ id: '1' });
    jest.advanceTimersByTime(60_000);
    jest.useRealTimers();
    expect((await stream.next()).value).toMatchObject({ id: '2' });
    expect(losses).toEqual([]);
    await stream.return();
  });

  it('throws the reason of its signal if the signal aborts', async () => {
    await start(events(': hello\n\n', false));
    const stop = new AbortController();
    const next = client.stream({}, { signal: stop.signal }).next();
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(next).rejects.toThrow('enough');
  });
});
