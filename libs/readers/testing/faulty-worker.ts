import type { LocalReading, ReadRequest } from '../reading.js';

/** A thread that throws, hangs or answers slowly if the text says so. For other texts it answers immediately. */
export default async function read(requests: readonly ReadRequest[]): Promise<LocalReading[]> {
  for (const { item } of requests) {
    if (item.text === 'throw') throw new Error('no weights');
    while (item.text === 'hang');
    if (item.text === 'slow') await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return requests.map(() => ({ lang: 'en', relevance: 100, reason: 'answered' }));
}
