import { startLocalReader } from './local-reader.js';
import type { ReadRequest } from './reading.js';

const request = (text: string, more: Partial<ReadRequest> = {}): ReadRequest => ({
  item: { source: 'reddit', kind: 'post', title: '', text, titleOfParent: false, url: '', terms: [] },
  subject: { names: ['Acme'], role: 'own' },
  analysis: true,
  embed: false,
  ...more,
});

describe('the local reader', () => {
  it('reads language, relevance, sentiment and intent of each item, in order', async () => {
    const reader = startLocalReader({ workers: 1 });
    const readings = await reader.read([
      request('I love Acme, it is the best tool that we have ever used.'),
      request('Leaving Acme for Globex today, cancelled our subscription.'),
      request('Mir gefällt das neue Fahrrad von Acme überhaupt nicht', { analysis: false }),
    ]);
    await reader.close();
    expect(readings).toMatchObject([
      { lang: 'en', sentiment: 'positive', intent: 'praise' },
      { lang: 'en', sentiment: 'negative', intent: 'churn_risk' },
      { lang: 'de' },
    ]);
    expect(readings[2]).not.toHaveProperty('sentiment');
  });
});
