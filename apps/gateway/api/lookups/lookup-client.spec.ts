import type { LookUp } from '#contracts';
import { readSettings } from '#config';
import { newId } from '#kernel';
import type { CommandClient } from '#transport';
import type { Sources } from '../keywords/keyword-faults.js';
import { LookupClient } from './lookup-client.js';

it('a lookup ends before its connection times out, because a later answer would be charged and lost', async () => {
  const { HTTP_REQUEST_TIMEOUT_MS } = readSettings(['HTTP_REQUEST_TIMEOUT_MS'], {});
  const asked: { deadline: string; timeoutMs: number }[] = [];
  const commands = {
    request: async (_: unknown, { deadline }: LookUp, timeoutMs: number) => {
      asked.push({ deadline, timeoutMs });
      return { bodyJson: '{}', costCredits: 1 };
    },
  };
  const sources = new Map([['x', { enabled: true, configured: true }]]) as unknown as Sources;
  const client = new LookupClient(commands as unknown as CommandClient, sources);
  await client.ask(newId(), 'x', 'user', { ref: 'a' });
  expect(asked[0]?.timeoutMs).toBeLessThan(2 * HTTP_REQUEST_TIMEOUT_MS);
  expect(Date.parse(asked[0]!.deadline)).toBeLessThan(Date.now() + asked[0]!.timeoutMs);
});
