import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { showReadings } from './demo-readings.js';

const analysis = { sentiment: 'negative', intent: 'other', relevance: 97, reason: null };
const mention = (title: string | null, text: string) => ({ source: 'x', title, text, lang: 'en', analysis });
const FOUND = [mention('Frequent outages', ''), mention(null, 'It is down again, the third time.')];

let gateway: Server;
afterEach(() => gateway.close());

it('the demo shows the title of a mention without a text, and finds a mention that shares no word with the question', async () => {
  const listed = [mention('A story', ''), ...Array.from({ length: 5 }, (_, n) => mention(null, `post ${n}`))];
  gateway = createServer(({ url }, response) =>
    response.end(JSON.stringify({ data: url?.includes('semantic') ? FOUND : listed })),
  );
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const printed: string[] = [];
  const address = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  await showReadings(address, { apiKey: 'k' }, (line) => printed.push(line), new AbortController().signal);
  expect(printed.join('')).toContain('negative  other                   97  A story\n');
  expect(printed.join('')).toContain(
    '"the service has frequent outages"\n\n  finds: It is down again, the third time.',
  );
});
