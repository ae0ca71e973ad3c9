import fc from 'fast-check';
import { serverSentEvents } from './server-sent-events.js';

const TEXT = [
  ': comment\n\n',
  'id: 0\n\n',
  'id: 1\r\nevent: mention\r\ndata: {"a":"ü"}\r\n\r\n',
  'data: first\rdata:second\r\r',
  'data\n\n',
  'event: nothing\n\n',
  'id: 2\ndata:  two spaces\n\n',
  'data: unfinished',
].join('');
const EVENTS = [
  { id: '0', event: 'message', data: '' },
  { id: '1', event: 'mention', data: '{"a":"ü"}' },
  { id: '1', event: 'message', data: 'first\nsecond' },
  { id: '1', event: 'message', data: '' },
  { id: '2', event: 'message', data: ' two spaces' },
];

async function read(chunks: readonly Uint8Array[]) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const found = [];
  for await (const event of serverSentEvents(body)) found.push(event);
  return found;
}

describe('serverSentEvents', () => {
  it('reads the same events, no matter where the answer is cut into chunks', async () => {
    const bytes = new TextEncoder().encode(TEXT);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 10 }), async (cuts) => {
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
        expect(await read(chunks)).toEqual(EVENTS);
      }),
    );
  });

  it('refuses an event or a line of more than 4 Mi characters', async () => {
    const line = new TextEncoder().encode(`data: ${'x'.repeat(1 << 20)}\n`);
    await expect(read(Array.from({ length: 5 }, () => line))).rejects.toThrow('too large');
    await expect(read(Array.from({ length: 5 }, () => line.slice(0, -1)))).rejects.toThrow('too large');
  });
});
